//! Which codes can anybody meet, and what is to be done about each?

use replicant_cli::catalogue::{self, Entry, Kind};
use replicant_sink::contract::rules::elsewhere::{ELSEWHERE, Judge};

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
         The stage is the lowest one that can know the mistake.\n\
         An option that is to go, whatever it says, is underlined by its name; otherwise the value is.\n\
         Relations are judged where declarations meet, at the sink: they underline the entry of `domains(...)`, `ignored_sources(...)` or `message_routes(...)` and name the resources, actions and hooks, because a sink's attribute does not have the tokens of another item.",
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
    page.section("Judged elsewhere");
    page.line("What a declaration can be wrong in and no rule judges, with the reason and who judges it instead.\n");
    page.table(
        ["what could be wrong", "why no rule judges it", "judged by"],
        ELSEWHERE.iter().map(|entry| {
            [
                entry.what.to_owned(),
                entry.why.to_owned(),
                judge(entry.judge),
            ]
        }),
    );
    page.page("rules.md")
}

fn judge(judge: Judge) -> String {
    let with = |who: &str, codes: &[&str]| {
        let codes: Vec<String> = codes.iter().map(|one| code(one)).collect();
        match codes.as_slice() {
            [] => who.to_owned(),
            codes => format!("{who}: {}", codes.join(", ")),
        }
    };
    match judge {
        Judge::Language => "nobody; the language has no words for it".to_owned(),
        Judge::Compiler => "the compiler".to_owned(),
        Judge::Admission(codes) => with("admission", codes),
        Judge::Delivery(codes) => with("delivery", codes),
        Judge::Binding(codes) => with("binding", codes),
    }
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
    fn what_is_judged_elsewhere_has_a_reason_that_exists() {
        for entry in ELSEWHERE {
            let codes = match entry.judge {
                Judge::Admission(codes) | Judge::Delivery(codes) | Judge::Binding(codes) => codes,
                Judge::Language | Judge::Compiler => &[],
            };
            for code in codes {
                assert!(of(Kind::Reason).any(|one| one.code == *code), "{code}");
            }
        }
    }

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
