//! What changes about the checkpoints? The store writes the statements; several pipelines may share one schema.

use std::collections::{BTreeMap, BTreeSet};

use replicant_checkpoint::store::Store;
use replicant_transport::ident::Ident;

use super::{Change, Drops, Risk};
use crate::ddl::model::{Claims, Declared};
use crate::ddl::place::Place;

/// What is dropped is left as it is unless that is meant.
const KEPT: Risk = Risk::Drops {
    up: Vec::new(),
    down: Vec::new(),
};

/// A checkpoint schema as all pipelines together ask for it.
#[derive(Default)]
struct Checkpoint<'a> {
    format: i32,
    readers: BTreeSet<&'a Ident>,
    claims: Claims,
}

pub(super) fn changes(
    old: &BTreeMap<String, Declared>,
    new: &BTreeMap<String, Declared>,
) -> Vec<Change> {
    let (before, after) = (by_schema(old), by_schema(new));
    let mut changes = Vec::new();
    for (schema, checkpoint) in &after {
        match before.get(schema) {
            None => {
                changes.push(created(schema, checkpoint));
                changes.extend(remembering(schema, &Checkpoint::default(), checkpoint));
            }
            Some(earlier) => {
                changes.extend(upgraded(schema, earlier, checkpoint));
                changes.extend(readers(schema, earlier, checkpoint));
                changes.extend(remembering(schema, earlier, checkpoint));
            }
        }
    }
    let gone = before
        .iter()
        .filter(|(schema, _)| !after.contains_key(*schema));
    changes.extend(gone.flat_map(|(schema, checkpoint)| {
        let Change { up, down, .. } = created(schema, checkpoint);
        let claims = remembering(schema, checkpoint, &Checkpoint::default());
        let gone = change(schema, "checkpoint no longer declared", down, up, KEPT);
        claims.into_iter().chain([gone])
    }));
    changes
}

/// Records as left the claims that are no longer declared and whose table is not dropped: every pipeline of the schema
/// says so, whichever declared them. Once left they stay recorded, until they are declared again.
pub fn leave_claims(
    old: &BTreeMap<String, Declared>,
    new: &mut BTreeMap<String, Declared>,
    drops: Drops,
) {
    let before = by_schema(old);
    let settled = by_schema(new).into_iter().map(|(schema, checkpoint)| {
        let earlier = before.get(schema).map(|earlier| earlier.claims);
        let claims = match (checkpoint.claims, earlier.unwrap_or_default(), drops) {
            (Claims::Kept, ..) => Claims::None,
            (_, Claims::Left, _) | (_, Claims::Kept, Drops::Commented) => Claims::Left,
            (_, Claims::None, _) | (_, Claims::Kept, Drops::Written) => Claims::None,
        };
        (schema.clone(), claims)
    });
    let settled: BTreeMap<Ident, Claims> = settled.collect();
    for declared in new.values_mut() {
        let wanted = &mut declared.checkpoint;
        if wanted.claims != Claims::Kept {
            wanted.claims = settled.get(&wanted.schema).copied().unwrap_or_default();
        }
    }
}

fn by_schema(pipelines: &BTreeMap<String, Declared>) -> BTreeMap<&Ident, Checkpoint<'_>> {
    let mut schemas: BTreeMap<&Ident, Checkpoint<'_>> = BTreeMap::new();
    for declared in pipelines.values() {
        let wanted = &declared.checkpoint;
        let checkpoint = schemas.entry(&wanted.schema).or_default();
        checkpoint.format = checkpoint.format.max(wanted.format);
        checkpoint.readers.extend(&wanted.select_grant);
        checkpoint.claims = checkpoint.claims.max(wanted.claims);
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
    // A table that comes or goes has its own with it, and one that is left has no readers.
    let stays = (old.claims, new.claims) == (Claims::Kept, Claims::Kept);
    let granted = |role: &Ident| -> Vec<String> {
        let claims = stays.then(|| store.grant_claims_ddl(role));
        [store.grant_ddl(role)].into_iter().chain(claims).collect()
    };
    let revoked = |role: &Ident| -> Vec<String> {
        let claims = stays.then(|| store.revoke_claims_ddl(role));
        claims.into_iter().chain([store.revoke_ddl(role)]).collect()
    };
    let removed = old.readers.difference(&new.readers).map(|role| {
        let what = format!("checkpoint no longer readable by {}", role.quoted());
        change(schema, &what, revoked(role), granted(role), Risk::None)
    });
    let added = new.readers.difference(&old.readers).map(|role| {
        let what = format!("checkpoint readable by {}", role.quoted());
        change(schema, &what, granted(role), revoked(role), Risk::None)
    });
    removed.chain(added).collect()
}

/// Claims that begin to be kept, or are no longer.
fn remembering(schema: &Ident, old: &Checkpoint<'_>, new: &Checkpoint<'_>) -> Option<Change> {
    let store = Store::in_schema(schema.clone());
    let granted = |checkpoint: &Checkpoint<'_>| -> Vec<String> {
        let readers = checkpoint.readers.iter();
        readers.map(|role| store.grant_claims_ddl(role)).collect()
    };
    let revoked = |checkpoint: &Checkpoint<'_>| -> Vec<String> {
        let readers = checkpoint.readers.iter();
        readers.map(|role| store.revoke_claims_ddl(role)).collect()
    };
    let made = |grants: Vec<String>| [store.claims_ddl()].into_iter().chain(grants).collect();
    let dropped = vec![store.drop_claims_ddl()];
    match (old.claims, new.claims) {
        (Claims::None, Claims::Kept) => {
            let what = "claims of messages kept";
            let up = made(granted(new));
            Some(change(schema, what, up, dropped, Risk::None))
        }
        (Claims::Left, Claims::Kept) => {
            let what = "claims of messages kept again, with those that were left";
            let up = made(granted(new));
            Some(change(schema, what, up, revoked(new), Risk::None))
        }
        (Claims::Kept, Claims::Left | Claims::None) => {
            let what = "claims of messages no longer declared";
            let risk = Risk::Drops {
                up: bare(revoked(old)),
                down: bare(granted(old)),
            };
            Some(change(schema, what, dropped, made(granted(old)), risk))
        }
        (Claims::Left, Claims::None) => {
            let what = "claims of messages that were left";
            Some(change(schema, what, dropped, made(Vec::new()), KEPT))
        }
        (Claims::None, Claims::None | Claims::Left)
        | (Claims::Left, Claims::Left)
        | (Claims::Kept, Claims::Kept) => None,
    }
}

/// Without final semicolons.
fn bare(statements: Vec<String>) -> Vec<String> {
    let trimmed = statements.iter().map(|text| text.trim_end());
    trimmed
        .map(|text| text.strip_suffix(';').unwrap_or(text).to_owned())
        .collect()
}

fn change(schema: &Ident, what: &str, up: Vec<String>, down: Vec<String>, risk: Risk) -> Change {
    Change {
        place: Place::Destination,
        subject: format!("schema {}", schema.quoted()),
        what: what.to_owned(),
        up: bare(up),
        down: bare(down),
        risk,
    }
}
