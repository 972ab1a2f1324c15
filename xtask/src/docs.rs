//! `cargo xtask docs`: which pages are written from code, so that they cannot be wrong?

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use replicant_checkpoint::contract::keys::{Availability, KEYS, Place, Presence};
use replicant_checkpoint::contract::sink::CheckpointSpec;
use replicant_checkpoint::store::Store;
use replicant_cli::catalogue::{Kind, all};
use replicant_sink::options;

use crate::run::Failure;
use crate::workspace;

/// Write the reference pages from code: reasons and rules, options, checkpoint tables.
///
/// A test and `cargo xtask ci` compare them, so a page that is not current fails.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write nothing; exit 1 when a page is not current.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if options.check {
        return match stale()?.as_slice() {
            [] => Ok(ExitCode::SUCCESS),
            pages => Err(Failure::Failed(format!(
                "not current: {}; run `cargo xtask docs`",
                pages.join(", ")
            ))),
        };
    }
    fs::create_dir_all(folder())?;
    for (name, text) in pages()? {
        fs::write(folder().join(name), text)?;
        println!("docs/src/reference/{name}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Names of pages that differ from what the code says.
fn stale() -> Result<Vec<String>, Failure> {
    Ok(pages()?
        .into_iter()
        .filter(|(name, text)| {
            fs::read_to_string(folder().join(name)).map_or(true, |found| found != *text)
        })
        .map(|(name, _)| name.to_owned())
        .collect())
}

fn folder() -> PathBuf {
    workspace::root().join("docs/src/reference")
}

fn pages() -> Result<Vec<(&'static str, String)>, Failure> {
    Ok(vec![
        ("reasons.md", reasons()),
        ("keys.md", keys()),
        ("checkpoint.md", checkpoint()?),
    ])
}

const WRITTEN: &str = "<!-- Written by `cargo xtask docs` from code; edit the code. -->\n\n";

fn reasons() -> String {
    let mut page = format!(
        "{WRITTEN}# Codes\n\nPrinted by the compiler, by a stopped pipeline and by the commands; `replicant explain CODE` says the same.\n"
    );
    for (kind, title) in [
        (Kind::Rule, "Rules of declarations"),
        (Kind::Reason, "Reasons to stop"),
    ] {
        let _ = writeln!(
            page,
            "\n## {title}\n\n| code | found by | class | what to do |\n| --- | --- | --- | --- |"
        );
        for entry in all().iter().filter(|entry| entry.kind == kind) {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                entry.code,
                entry.rung,
                entry.class,
                cell(entry.help)
            );
        }
    }
    page
}

fn keys() -> String {
    let mut page = format!("{WRITTEN}# Options\n");
    for place in Place::ALL {
        let mut own = KEYS.iter().filter(|key| key.place == *place).peekable();
        if own.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            page,
            "\n## {}\n\n| option | written as | when absent | meaning |\n| --- | --- | --- | --- |",
            place.as_str()
        );
        for key in own {
            let absent = match (key.availability, key.presence) {
                (Availability::Later, _) => "not available in this release",
                (Availability::Now, Presence::Required) => "an error: it is required",
                (Availability::Now, Presence::Default(default)) => default,
            };
            let usage = if key.usage.is_empty() {
                key.name
            } else {
                key.usage
            };
            let _ = writeln!(
                page,
                "| `{}` | `{}` | {} | {} |",
                key.name,
                cell(usage),
                cell(absent),
                cell(key.doc)
            );
        }
    }
    let _ = writeln!(
        page,
        "\n## Configuration of a pipeline\n\nIn TOML under the pipeline's name, or as `REPLICANT_<NAME>_<KEY>`.\n\n| key | value | when absent | meaning |\n| --- | --- | --- | --- |"
    );
    for key in options::KEYS {
        let absent = match key.availability {
            options::Availability::Now => key.default,
            options::Availability::NotYet => "not available in this release",
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            key.name,
            cell(key.shape),
            cell(absent),
            cell(key.doc)
        );
    }
    page
}

fn checkpoint() -> Result<String, Failure> {
    let store = Store::new(&CheckpointSpec {
        schema: "replicant",
        select_grant: None,
    })
    .map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(format!(
        "{WRITTEN}# Checkpoint tables\n\nThe first start creates them in the destination, in the schema that the checkpoint declares; here `replicant`.\nNobody but the delivery role may read them unless the declaration grants it.\n\n```sql\n{}\n```\n",
        store.ddl().trim_end()
    ))
}

/// A vertical bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_pages_written_from_code_are_current() {
        assert_eq!(super::stale().unwrap(), Vec::<String>::new());
    }
}
