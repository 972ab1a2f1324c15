//! What changes about the checkpoints? The store writes the statements; several pipelines may share one schema.

use std::collections::{BTreeMap, BTreeSet};

use replicant_checkpoint::store::Store;
use replicant_transport::ident::Ident;

use super::{Change, Risk};
use crate::ddl::model::Declared;

/// A checkpoint schema as all pipelines together ask for it.
#[derive(Default)]
struct Checkpoint<'a> {
    format: i32,
    readers: BTreeSet<&'a Ident>,
}

pub(super) fn changes(
    old: &BTreeMap<String, Declared>,
    new: &BTreeMap<String, Declared>,
) -> Vec<Change> {
    let (before, after) = (by_schema(old), by_schema(new));
    let mut changes = Vec::new();
    for (schema, checkpoint) in &after {
        match before.get(schema) {
            None => changes.push(created(schema, checkpoint)),
            Some(earlier) => {
                changes.extend(upgraded(schema, earlier, checkpoint));
                changes.extend(readers(schema, earlier, checkpoint));
            }
        }
    }
    let gone = before
        .iter()
        .filter(|(schema, _)| !after.contains_key(*schema));
    changes.extend(gone.map(|(schema, checkpoint)| {
        let Change { up, down, .. } = created(schema, checkpoint);
        let risk = Risk::Drops {
            up: Vec::new(),
            down: Vec::new(),
        };
        change(schema, "checkpoint no longer declared", down, up, risk)
    }));
    changes
}

fn by_schema(pipelines: &BTreeMap<String, Declared>) -> BTreeMap<&Ident, Checkpoint<'_>> {
    let mut schemas: BTreeMap<&Ident, Checkpoint<'_>> = BTreeMap::new();
    for declared in pipelines.values() {
        let wanted = &declared.checkpoint;
        let checkpoint = schemas.entry(&wanted.schema).or_default();
        checkpoint.format = checkpoint.format.max(wanted.format);
        checkpoint.readers.extend(&wanted.select_grant);
    }
    schemas
}

fn created(schema: &Ident, checkpoint: &Checkpoint<'_>) -> Change {
    let store = Store::in_schema(schema.clone());
    let grants = checkpoint.readers.iter().map(|role| store.grant_ddl(role));
    let up = [store.ddl()].into_iter().chain(grants).collect();
    change(
        schema,
        "checkpoint created",
        up,
        vec![store.drop_ddl()],
        Risk::None,
    )
}

fn upgraded(schema: &Ident, old: &Checkpoint<'_>, new: &Checkpoint<'_>) -> Option<Change> {
    if old.format == new.format {
        return None;
    }
    let upgrade = Store::in_schema(schema.clone()).upgrade_ddl(old.format)?;
    // An older release refuses the newer format; there is no way back.
    let what = format!("checkpoint brought to format {}", new.format);
    Some(change(schema, &what, vec![upgrade], Vec::new(), Risk::None))
}

fn readers(schema: &Ident, old: &Checkpoint<'_>, new: &Checkpoint<'_>) -> Vec<Change> {
    let store = Store::in_schema(schema.clone());
    let removed = old.readers.difference(&new.readers).map(|role| {
        let (up, down) = (store.revoke_ddl(role), store.grant_ddl(role));
        let what = format!("checkpoint no longer readable by {}", role.quoted());
        change(schema, &what, vec![up], vec![down], Risk::None)
    });
    let added = new.readers.difference(&old.readers).map(|role| {
        let (up, down) = (store.grant_ddl(role), store.revoke_ddl(role));
        let what = format!("checkpoint readable by {}", role.quoted());
        change(schema, &what, vec![up], vec![down], Risk::None)
    });
    removed.chain(added).collect()
}

fn change(schema: &Ident, what: &str, up: Vec<String>, down: Vec<String>, risk: Risk) -> Change {
    let bare = |statements: Vec<String>| -> Vec<String> {
        let trimmed = statements.iter().map(|text| text.trim_end());
        trimmed
            .map(|text| text.strip_suffix(';').unwrap_or(text).to_owned())
            .collect()
    };
    Change {
        subject: format!("schema {}", schema.quoted()),
        what: what.to_owned(),
        up: bare(up),
        down: bare(down),
        risk,
    }
}
