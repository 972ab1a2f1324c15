//! `explain`: what does a code mean, and what is to be done?

use crate::arguments::{Explain, Format};
use crate::catalogue::{Entry, Kind, all};
use crate::exit::Exit;
use crate::screen::Screen;

pub(crate) fn run(options: &Explain, screen: &mut Screen<'_>) -> Exit {
    let entries = all();
    let Some(code) = options.code.as_deref().filter(|_| !options.list) else {
        return list(&entries, options.format, screen);
    };
    let Some(entry) = entries.iter().find(|entry| entry.code == code) else {
        screen.complain(&format!("no code `{code}`{}", similar(&entries, code)));
        return Exit::NotAsked;
    };
    match options.format {
        Format::Json => screen.json(entry),
        Format::Text => {
            let kind = match entry.kind {
                Kind::Rule => "a rule of declarations",
                Kind::Reason => "a reason to stop",
            };
            let code = screen.bold(entry.code);
            screen.line(&format!(
                "{code}: {kind}, found by {}, {}",
                entry.rung, entry.class
            ));
            screen.line(&format!("  {}", entry.help));
            Exit::Clean
        }
    }
}

fn list(entries: &[Entry], format: Format, screen: &mut Screen<'_>) -> Exit {
    match format {
        Format::Json => screen.json(&entries),
        Format::Text => {
            let width = entries
                .iter()
                .map(|entry| entry.code.len())
                .max()
                .unwrap_or(0);
            let mut rung = "";
            for entry in entries {
                if entry.rung != rung {
                    rung = entry.rung;
                    let title = screen.bold(rung);
                    screen.line(&title);
                }
                screen.line(&format!("  {:<width$}  {}", entry.code, entry.help));
            }
            Exit::Clean
        }
    }
}

/// Codes that share the most words with the one that was asked for.
fn similar(entries: &[Entry], code: &str) -> String {
    let shared = |entry: &Entry| {
        code.split('_')
            .filter(|word| entry.code.split('_').any(|other| other == *word))
            .count()
    };
    let most = entries.iter().map(shared).max().unwrap_or(0);
    if most == 0 {
        return "; `replicant explain --list` prints all".to_owned();
    }
    let near: Vec<&str> = entries
        .iter()
        .filter(|entry| shared(entry) == most)
        .map(|entry| entry.code)
        .take(5)
        .collect();
    format!("; did you mean {}?", near.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(code: Option<&str>, format: Format) -> (Exit, String, String) {
        let (mut answers, mut complaints) = (Vec::new(), Vec::new());
        let options = Explain {
            code: code.map(str::to_owned),
            list: code.is_none(),
            format,
        };
        let exit = run(
            &options,
            &mut Screen::captured(&mut answers, &mut complaints),
        );
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (exit, text(answers), text(complaints))
    }

    #[test]
    fn a_known_code_is_explained() {
        let (exit, answer, _) = ask(Some("truncate_halt"), Format::Text);
        assert_eq!(exit, Exit::Clean);
        assert!(answer.contains("on_truncate = mirror"), "{answer}");
    }

    #[test]
    fn an_unknown_code_suggests_its_neighbours() {
        let (exit, answer, complaint) = ask(Some("destination_foreign_keys"), Format::Text);
        assert_eq!((exit, answer.as_str()), (Exit::NotAsked, ""));
        assert!(complaint.contains("destination_foreign_key"), "{complaint}");
    }

    #[test]
    fn the_list_for_programs_has_the_promised_shape() {
        let (_, answer, _) = ask(None, Format::Json);
        let list: Vec<serde_json::Value> = serde_json::from_str(&answer).expect("JSON");
        assert!(list.len() > 50);
        for entry in list {
            let object = entry.as_object().expect("an object");
            for key in ["code", "kind", "rung", "class", "help"] {
                assert!(
                    object.get(key).is_some_and(serde_json::Value::is_string),
                    "{key}"
                );
            }
        }
    }
}
