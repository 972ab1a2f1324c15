//! `migrations`: what the declarations ask of the destination, as reversible migration files.
//!
//! ```text
//!  pipelines ──► wanted ─────┐
//!  replicant.snapshot.json ──┴──► changes ──► <version>_<name>.up.sql, .down.sql, and the snapshot again
//!                                       └───► tenant_each/<version>_<name>.up.sql, .down.sql for schemas tenant_{}
//! ```
//!
//! Nothing here asks a server. Reading order: this file, [`recorded`], [`text`], [`directory`], [`series`],
//! [`reason`].

mod directory;
pub(crate) mod reason;
mod recorded;
mod series;
mod text;

use std::collections::BTreeMap;
use std::time::SystemTime;

use replicant_sink::ddl::{self, Change, Declared, Drops, MadeBy, Place, Risk};
use replicant_sink::pipeline::Pipeline;
use serde_json::json;

use crate::arguments::{Format, Migrations};
use crate::exit::Exit;
use crate::screen::{Ink, Screen};
use directory::Directory;
use reason::{Mistake, Reason};
use recorded::Recorded;
use text::Migration;

pub(crate) fn run(options: &Migrations, pipelines: &[Pipeline], screen: &mut Screen<'_>) -> Exit {
    match planned(options, pipelines) {
        Err(refused) => {
            for mistake in &refused.mistakes {
                screen.complain(mistake);
            }
            refused.exit
        }
        Ok(plan) => tell(options, &plan, screen),
    }
}

/// Why nothing was planned or written.
struct Refused {
    mistakes: Vec<String>,
    exit: Exit,
}

impl From<Mistake> for Refused {
    fn from(mistake: Mistake) -> Self {
        Self {
            exit: mistake.reason.exit(),
            mistakes: vec![mistake.to_string()],
        }
    }
}

impl From<Vec<replicant_sink::Error>> for Refused {
    fn from(errors: Vec<replicant_sink::Error>) -> Self {
        let exits = errors.iter().map(Exit::of_error);
        Self {
            exit: exits.max().unwrap_or(Exit::Failed),
            mistakes: errors.iter().map(ToString::to_string).collect(),
        }
    }
}

/// What a run does.
struct Plan {
    changes: Vec<Change>,
    migrations: Vec<Migration>,
    outcome: Outcome,
}

/// What became of it.
enum Outcome {
    /// Everything is recorded already.
    Nothing,
    /// It would be written.
    WouldWrite,
    /// These files were written.
    Wrote(Vec<String>),
}

fn planned(options: &Migrations, pipelines: &[Pipeline]) -> Result<Plan, Refused> {
    directory::check_name(&options.name)?;
    let directory = Directory::new(&options.dir);
    let recorded = directory.recorded()?;
    let drops = match options.allow_destructive {
        true => Drops::Written,
        false => Drops::Commented,
    };
    let mut new = wanted(options, pipelines, &recorded)?;
    ddl::leave_claims(&recorded.pipelines, &mut new, drops);
    let changes = ddl::changes(&recorded.pipelines, &new)?;
    refuse_conversions(options, &changes)?;
    let migrations = text::migrations(&changes, drops);
    let outcome = if recorded.pipelines == new {
        Outcome::Nothing
    } else if options.check || options.dry_run {
        Outcome::WouldWrite
    } else {
        let now = SystemTime::now();
        Outcome::Wrote(directory.write(&options.name, now, &migrations, recorded.last, new)?)
    };
    Ok(Plan {
        changes,
        migrations,
        outcome,
    })
}

/// What every pipeline asks for now. A run for one pipeline leaves the others as they are recorded; a run for all
/// forgets those that are gone.
fn wanted(
    options: &Migrations,
    pipelines: &[Pipeline],
    recorded: &Recorded,
) -> Result<BTreeMap<String, Declared>, Refused> {
    let new_tables = match options.tables {
        true => MadeBy::Migrations,
        false => MadeBy::Host,
    };
    let mut new = match options.pipeline {
        Some(_) => recorded.pipelines.clone(),
        None => BTreeMap::new(),
    };
    let mut mistakes = Vec::new();
    let mut seen = Vec::new();
    let chosen = |pipeline: &&Pipeline| {
        let only = options.pipeline.as_deref();
        only.is_none_or(|name| name == pipeline.name())
    };
    for pipeline in pipelines.iter().filter(chosen) {
        let name = pipeline.name();
        if seen.contains(&name) {
            let fact = format!("two pipelines are called `{name}`");
            return Err(Mistake::new(Reason::PipelineRepeated, fact).into());
        }
        seen.push(name);
        match ddl::wanted(pipeline.spec(), new_tables, recorded.pipelines.get(name)) {
            Ok(declared) => {
                new.insert(name.to_owned(), declared);
            }
            Err(errors) => mistakes.extend(errors),
        }
    }
    match mistakes.is_empty() {
        true => Ok(new),
        false => Err(mistakes.into()),
    }
}

/// A conversion that may lose values has to be meant: without it, the destination would not be what is declared.
fn refuse_conversions(options: &Migrations, changes: &[Change]) -> Result<(), Refused> {
    let converts = changes.iter().filter(|one| one.risk == Risk::Converts);
    let mistakes: Vec<String> = converts
        .map(|one| format!("{}: {}", one.subject, one.what))
        .map(|fact| Mistake::new(Reason::Destructive, fact).to_string())
        .collect();
    if mistakes.is_empty() || options.allow_destructive {
        return Ok(());
    }
    Err(Refused {
        mistakes,
        exit: Reason::Destructive.exit(),
    })
}

fn tell(options: &Migrations, plan: &Plan, screen: &mut Screen<'_>) -> Exit {
    let exit = match plan.outcome {
        Outcome::WouldWrite if options.check => Exit::Failed,
        Outcome::Nothing | Outcome::WouldWrite | Outcome::Wrote(_) => Exit::Clean,
    };
    if options.json || options.format == Format::Json {
        return match screen.json(&as_json(options, plan)) {
            Exit::Clean => exit,
            unprintable => unprintable,
        };
    }
    match &plan.outcome {
        Outcome::Nothing => {
            screen.line("nothing to write: the migrations say what is declared");
            return exit;
        }
        Outcome::WouldWrite if options.dry_run => {
            for Migration { place, up, down } in &plan.migrations {
                let of = match place {
                    Place::Destination => String::new(),
                    Place::EachTenant(schema) => format!(" of each {}", schema.quoted()),
                };
                screen.line(&format!("-- up{of}\n\n{up}"));
                screen.line(&format!("-- down{of}\n\n{down}"));
            }
            return exit;
        }
        Outcome::WouldWrite => screen.line("these changes are declared and not written:"),
        Outcome::Wrote(files) => {
            for file in files {
                let word = screen.painted(Ink::Green, "wrote");
                screen.line(&format!("{word} {file}"));
            }
        }
    }
    for change in &plan.changes {
        screen.line(&format!(
            "  {}: {}{}",
            change.subject,
            change.what,
            kept(options, change)
        ));
    }
    exit
}

fn kept(options: &Migrations, change: &Change) -> &'static str {
    match change.risk {
        Risk::Drops { .. } if !options.allow_destructive => {
            " (as a comment: --allow-destructive writes it)"
        }
        Risk::Drops { .. } | Risk::Converts | Risk::None => "",
    }
}

fn as_json(options: &Migrations, plan: &Plan) -> serde_json::Value {
    let directory = Directory::new(&options.dir);
    let mut destination = (String::new(), String::new());
    let mut tenants = Vec::new();
    for Migration { place, up, down } in &plan.migrations {
        match place {
            Place::Destination => destination = (up.clone(), down.clone()),
            Place::EachTenant(schema) => tenants.push(json!({
                "schema": schema.as_str(),
                "directory": directory.of(place).display().to_string(),
                "up": up,
                "down": down,
            })),
        }
    }
    let (up, down) = destination;
    let changes = plan.changes.iter().map(|change| {
        let destructive = change.risk != Risk::None;
        json!({"subject": change.subject, "change": change.what, "destructive": destructive})
    });
    let (state, files): (_, &[String]) = match &plan.outcome {
        Outcome::Nothing => ("nothing", &[]),
        Outcome::WouldWrite => ("would_write", &[]),
        Outcome::Wrote(files) => ("written", files),
    };
    json!({
        "state": state,
        "files": files,
        "changes": changes.collect::<Vec<_>>(),
        "up": up,
        "down": down,
        "tenants": tenants,
    })
}
