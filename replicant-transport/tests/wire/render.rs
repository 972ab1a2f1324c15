//! How a capture reads: one line a message, and one for what the assembler made of it.
//!
//! Positions, times, transaction ids and object ids differ from one recording to the next and are left out.

use std::collections::HashMap;
use std::fmt::Write;

use replicant_transport::assemble::Event;
use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::{Change, ChangeKind, OldRow};
use replicant_transport::relation::{KeyPart, Relation};
use replicant_transport::wire::{Message, Transactional};

/// Table names by object id.
#[derive(Default)]
pub(crate) struct Names(HashMap<u32, String>);

impl Names {
    pub(crate) fn learn(&mut self, message: &Message) {
        if let Message::Relation(relation) = message {
            self.0
                .insert(relation.oid, relation.name.quoted().to_string());
        }
    }

    pub(crate) fn message(&self, message: &Message) -> String {
        let name = |oid: &u32| &self.0[oid];
        let text = match message {
            Message::Begin(_) => "B".to_owned(),
            Message::Commit(_) => "C".to_owned(),
            Message::Origin(origin) => {
                format!("O {} {}", origin.origin_lsn, quoted(origin.name.as_bytes()))
            }
            Message::Relation(relation) => format!("R {}", description(relation)),
            Message::Type(named) => format!(
                "Y {}.{}",
                quoted(named.schema.as_bytes()),
                quoted(named.name.as_bytes())
            ),
            Message::Insert(insert) => {
                format!("I {} N{}", name(&insert.relation), tuple(&insert.new))
            }
            Message::Update(update) => {
                let old = update.old.as_ref().map(image).unwrap_or_default();
                format!("U {} {old}N{}", name(&update.relation), tuple(&update.new))
            }
            Message::Delete(delete) => {
                format!(
                    "D {} {}",
                    name(&delete.relation),
                    image(&delete.old).trim_end()
                )
            }
            Message::Truncate(truncate) => {
                let tables: Vec<_> = truncate
                    .relations
                    .iter()
                    .map(|oid| name(oid).as_str())
                    .collect();
                let cascade = if truncate.cascade { " cascade" } else { "" };
                let restart = if truncate.restart_identity {
                    " restart identity"
                } else {
                    ""
                };
                format!("T {}{cascade}{restart}", tables.join(", "))
            }
            Message::Logical(logical) => {
                let kind = match logical.transactional {
                    Transactional::Yes => "transactional",
                    Transactional::No => "standalone",
                };
                let prefix = quoted(logical.prefix.as_bytes());
                format!("M {kind} {prefix} {}", quoted(logical.content.as_bytes()))
            }
        };
        text + "\n"
    }
}

pub(crate) fn event(event: &Event) -> String {
    let text = match event {
        Event::None => return String::new(),
        Event::Relation(seen) => match &seen.previous {
            None => "relation, first seen".to_owned(),
            Some(previous) if previous.oid != seen.relation.oid => {
                "relation, in place of another of its name".to_owned()
            }
            Some(_) => "relation, changed".to_owned(),
        },
        Event::Begin(_, change) => format!("begin; {}", ordinal(change)),
        Event::Change(change) => ordinal(change),
        Event::Commit(receipt) => {
            assert!(receipt.end_lsn().lsn() > receipt.commit_lsn().lsn());
            "commit".to_owned()
        }
        Event::Empty(_) => "empty".to_owned(),
        Event::StandaloneMessage { .. } => "standalone message".to_owned(),
    };
    format!("    -> {text}\n")
}

fn ordinal(change: &Change) -> String {
    let kind = match &change.kind {
        ChangeKind::Insert { .. } => "insert",
        ChangeKind::Update { .. } => "update",
        ChangeKind::Delete { .. } => "delete",
        ChangeKind::Truncate { .. } => "truncate",
        ChangeKind::Message { .. } => "message",
    };
    format!("{kind} {}", change.ordinal.0)
}

fn description(relation: &Relation) -> String {
    let mut text = format!(
        "{} identity {}",
        relation.name.quoted(),
        relation.replica_identity.letter()
    );
    for column in &relation.columns {
        let key = if column.key == KeyPart::Key {
            " key"
        } else {
            ""
        };
        let ty = match column.type_oid {
            built_in @ ..16_384 => built_in.to_string(),
            _ => "custom".to_owned(),
        };
        let _ = write!(text, ", {} {ty}", column.name.quoted());
        if column.type_modifier != -1 {
            let _ = write!(text, "/{}", column.type_modifier);
        }
        text += key;
    }
    text
}

fn image(old: &OldRow) -> String {
    match old {
        OldRow::Key(cells) => format!("K{} ", tuple(cells)),
        OldRow::Full(cells) => format!("O{} ", tuple(cells)),
    }
}

fn tuple(cells: &Tuple) -> String {
    let cells: Vec<_> = cells.iter().map(cell).collect();
    format!("({})", cells.join(", "))
}

fn cell(cell: Cell<'_>) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Unchanged => "unchanged".to_owned(),
        Cell::Text(bytes) => quoted(bytes),
        Cell::Binary(bytes) => {
            let hex: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{}'", hex.join(""))
        }
    }
}

fn quoted(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(long) if long.len() > 60 => {
            format!(
                "'{}'... {} bytes",
                long.chars().take(5).collect::<String>(),
                long.len()
            )
        }
        Ok(text) => format!("'{text}'"),
        Err(_) => format!("{} bytes", bytes.len()),
    }
}
