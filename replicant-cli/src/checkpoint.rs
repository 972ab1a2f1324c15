//! `checkpoint`: what is stored, and the decisions only a person may take, each with consent.

use std::io::{BufRead, IsTerminal};

use replicant_sink::Error;
use replicant_sink::decision::{self, Decided, Position, SlotOnSource, Stored};
use replicant_sink::pipeline::Pipeline;
use replicant_transport::position::{CommitLsn, EndLsn};
use serde_json::json;

use crate::arguments::{Adopt, Checkpoint, Choice, Consent, Format};
use crate::exit::Exit;
use crate::screen::Screen;

pub(crate) async fn run(command: Checkpoint, pipeline: &Pipeline, screen: &mut Screen<'_>) -> Exit {
    match command {
        Checkpoint::Show(choice) => show(&choice, pipeline, screen).await,
        Checkpoint::Adopt(adopt) => {
            let Some(position) = position(&adopt) else {
                screen.complain("say up to where: --flush-lsn or --commit-lsn");
                return Exit::NotAsked;
            };
            let meant = format!("take over the mirror of `{}`", pipeline.name());
            if let Err(exit) = consent(adopt.consent, &meant, screen) {
                return exit;
            }
            let decided = decision::adopt(pipeline, position).await;
            tell("adopt", decided, &adopt.choice, screen)
        }
        Checkpoint::Reset(reset) => {
            let meant = format!("forget how far the mirror of `{}` is", pipeline.name());
            if let Err(exit) = consent(reset.consent, &meant, screen) {
                return exit;
            }
            let slot = if reset.keep_slot {
                SlotOnSource::MayStay
            } else {
                SlotOnSource::MustBeGone
            };
            let decided = decision::reset(pipeline, slot).await;
            tell("reset", decided, &reset.choice, screen)
        }
        Checkpoint::AckTimeline(accept) => {
            let meant = format!("accept the source's timeline for `{}`", pipeline.name());
            if let Err(exit) = consent(accept.consent, &meant, screen) {
                return exit;
            }
            let decided = decision::acknowledge_timeline(pipeline).await;
            tell("ack-timeline", decided, &accept.choice, screen)
        }
        Checkpoint::Skip(_) => {
            screen.complain(
                "option_not_available: `checkpoint skip` is not available in this release; repair what refuses the \
                 transaction instead",
            );
            Exit::NotAsked
        }
    }
}

fn position(adopt: &Adopt) -> Option<Position> {
    match (adopt.commit_lsn, adopt.flush_lsn) {
        (Some(at), None) => Some(Position::Commit(CommitLsn::new(at))),
        (None, Some(at)) => Some(Position::Flush(EndLsn::new(at))),
        _ => None,
    }
}

/// Asks back on a terminal; elsewhere only `--yes` is consent.
fn consent(consent: Consent, meant: &str, screen: &mut Screen<'_>) -> Result<(), Exit> {
    if consent.yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        screen.complain(&format!("to {meant}, add --yes: there is nobody to ask"));
        return Err(Exit::NotAsked);
    }
    screen.complain(&format!("This will {meant}. Type yes to go on:"));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && answer.trim() == "yes" {
        return Ok(());
    }
    screen.complain("nothing was changed");
    Err(Exit::NotAsked)
}

fn tell(
    decision: &str,
    decided: Result<Decided, Error>,
    choice: &Choice,
    screen: &mut Screen<'_>,
) -> Exit {
    let changed = match decided {
        Ok(Decided::Changed) => true,
        Ok(Decided::AlreadySo) => false,
        Err(error) => return screen.refuse(&error),
    };
    match choice.format {
        Format::Json => screen.json(&json!({"decision": decision, "changed": changed})),
        Format::Text => {
            screen.line(if changed {
                "done, and recorded"
            } else {
                "nothing to do: it is so already"
            });
            Exit::Clean
        }
    }
}

async fn show(choice: &Choice, pipeline: &Pipeline, screen: &mut Screen<'_>) -> Exit {
    let stored = match decision::show(pipeline).await {
        Ok(stored) => stored,
        Err(error) => return screen.refuse(&error),
    };
    match (choice.format, stored) {
        (Format::Json, stored) => screen.json(&stored),
        (Format::Text, None) => {
            screen.line("no checkpoint");
            Exit::Clean
        }
        (Format::Text, Some(stored)) => {
            text(&stored, screen);
            Exit::Clean
        }
    }
}

fn text(stored: &Stored, screen: &mut Screen<'_>) {
    let name = screen.bold(&stored.slot);
    screen.line(&format!("{name} of {}", stored.source));
    let none = || "none".to_owned();
    let timeline = stored.timeline.map(|timeline| timeline.to_string());
    let lease = stored.lease.map(|state| {
        let owner = stored.owner.as_deref().unwrap_or("nobody");
        format!("{state}, {owner}")
    });
    for (name, value) in [
        ("watermark", stored.watermark.clone()),
        ("acked end", stored.acked_end.clone()),
        ("timeline", timeline),
        ("contract", stored.fingerprint.clone()),
        ("lease", lease),
    ] {
        screen.line(&format!("  {name:<10} {}", value.unwrap_or_else(none)));
    }
    for table in &stored.tables {
        screen.line(&format!("  {:<10} {}", table.completeness, table.table));
    }
    for one in &stored.decisions {
        screen.line(&format!(
            "  decided    {} by {} at {}: {}",
            one.decision, one.by, one.at, one.fact
        ));
    }
}
