//! Which codes can anybody meet, and what is to be done about each?

use replicant_cli::catalogue::{self, Entry, Kind};

use super::{Page, Writer, code};

/// A class and what it means for a pipeline.
const CLASSES: [(&str, &str); 3] = [
    (
        "transient",
        "The pipeline keeps trying by itself, with a growing delay; the phase `Retrying` shows the reason.",
    ),
    (
        "operator decision",
        "The pipeline stopped because going on would be a guess; a person decides what is true.",
    ),
    (
        "terminal",
        "The pipeline stopped, or did not start, until somebody changes the declaration, the setup or the data.",
    ),
];

pub(super) fn reasons() -> Page {
    let mut page = Writer::titled(
        "Reasons",
        "Every reason of every crate, by class.\n\
         `replicant explain CODE` prints the same line.\n\
         A reason comes with a place (table, column, option, position) and, when a server refused something, its SQLSTATE; never with a value or the server's message.",
    );
    for (class, meaning) in CLASSES {
        page.section(class);
        page.line(&format!("{meaning}\n"));
        page.table(
            ["code", "found by", "what to do"],
            of(Kind::Reason)
                .filter(|entry| entry.class == class)
                .map(|entry| {
                    [
                        code(entry.code),
                        entry.rung.to_owned(),
                        entry.help.to_owned(),
                    ]
                }),
        );
    }
    page.page("reasons.md")
}

pub(super) fn rules() -> Page {
    let mut page = Writer::titled(
        "Rules of declarations",
        "What a declaration must not do.\n\
         The compiler prints `replicant[code]` at the token to edit; admission runs the same rules again for specifications that no macro made.\n\
         The stage is the lowest one that can know the mistake.",
    );
    page.line("");
    page.table(
        ["code", "stage", "what to do"],
        of(Kind::Rule).map(|entry| {
            [
                code(entry.code),
                entry.rung.to_owned(),
                entry.help.to_owned(),
            ]
        }),
    );
    page.page("rules.md")
}

fn of(kind: Kind) -> impl Iterator<Item = Entry> {
    catalogue::all()
        .into_iter()
        .filter(move |entry| entry.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_is_left_out() {
        for entry in of(Kind::Reason) {
            assert!(
                CLASSES.iter().any(|(class, _)| *class == entry.class),
                "{}",
                entry.class
            );
        }
    }
}
