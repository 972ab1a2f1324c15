//! Which changes of a declaration does a checkpoint survive?

use replicant_sink::contract::drift::{GROWTH, REASONS};

use super::{Page, Writer, code};

pub(super) fn page() -> Page {
    let mut page = Writer::titled(
        "Changes of a declaration",
        "What `publication_contract_incompatible` names as its reason: a change that stored rows would not survive.\n\
         Undo the change, or reset the checkpoint and fill the tables again.\n\
         Every other change is growth, or has no meaning for stored rows, and goes on by itself.",
    );
    page.line("");
    page.table(
        ["reason", "what changed"],
        REASONS
            .iter()
            .map(|(name, meaning)| [code(name), (*meaning).to_owned()]),
    );
    page.section("Growth");
    for line in GROWTH {
        page.line(&format!("- {line}"));
    }
    page.page("drift.md")
}
