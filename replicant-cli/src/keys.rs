//! How is the inventory of keys printed? One line per sealed column and key, or one object.

use replicant_sink::seal::inventory::{Inventory, KeyState};

use crate::arguments::Format;
use crate::exit::Exit;
use crate::screen::{Ink, Screen};

pub(crate) fn print(found: &Inventory, format: Format, screen: &mut Screen<'_>) -> Exit {
    match format {
        Format::Text => text(found, screen),
        Format::Json => {
            screen.json(found);
        }
    }
    Exit::of_code(found.exit_code)
}

fn text(found: &Inventory, screen: &mut Screen<'_>) {
    let name = screen.bold(&found.pipeline);
    screen.line(&match (&found.sealing, found.columns.is_empty()) {
        (_, true) => format!("{name}: no sealed columns"),
        (Some(key), false) => format!("{name}: key {key} seals"),
        (None, false) => format!("{name}: no vault, so nothing tells which keys are there"),
    });
    for column in &found.columns {
        screen.line(&format!("  {} {}", column.table, column.column));
        for key in &column.keys {
            let (ink, word) = said(key.state);
            let word = screen.painted(ink, word);
            screen.line(&format!("    {:<32} {:>12} {word}", key.key, key.rows));
        }
        if column.unreadable > 0 {
            let word = screen.painted(Ink::Red, "no envelopes");
            screen.line(&format!("    {:<32} {:>12} {word}", "-", column.unreadable));
        }
    }
}

const fn said(state: KeyState) -> (Ink, &'static str) {
    match state {
        KeyState::Seals => (Ink::Green, "seals"),
        KeyState::Opens => (Ink::Green, "opens"),
        KeyState::Missing => (Ink::Red, "missing in the vault"),
        KeyState::Unknown => (Ink::Yellow, "unknown"),
    }
}
