//! What changed between two descriptions of a table, and whether rows already applied still agree with it.
//!
//! A description carries no attribute numbers, so two things stay invisible here and need the catalog: the last
//! column dropped and added again under its name and type, and values that ADD COLUMN ... DEFAULT or ALTER TYPE ...
//! USING rewrote without row events.

use std::collections::{HashMap, HashSet};

use super::modifier::{self, ModifierChange};
use super::{KeyPart, Relation, RelationColumn, ReplicaIdentity};
use crate::ident::{Ident, QualifiedName};

/// One difference between two descriptions of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RelationChange {
    /// Another table carries the name now: it was dropped and created again, or swapped in.
    Recreated,
    /// The same table has another schema or name.
    Renamed {
        /// What it was called.
        from: QualifiedName,
    },
    /// What old rows carry is different.
    ReplicaIdentityChanged {
        /// What they carried.
        from: ReplicaIdentity,
        /// What they carry now.
        to: ReplicaIdentity,
    },
    /// A column is sent that was not: added, or newly published. Rows already applied lack its values.
    ColumnAdded(Ident),
    /// A column is no longer sent: dropped, renamed, or no longer published.
    ColumnDropped(Ident),
    /// A column moved behind its old neighbours, which only happens when it was dropped and added again.
    ColumnRecreated(Ident),
    /// A column has another type.
    TypeChanged(Ident),
    /// A column has another type modifier.
    ModifierChanged(Ident, ModifierChange),
    /// A column joined or left the replica identity.
    KeyChanged {
        /// The column.
        column: Ident,
        /// Whether it is part of it now.
        to: KeyPart,
    },
}

/// Does what is already applied still agree with the source?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Severity {
    /// Yes, as far as a description can tell.
    Additive,
    /// No: values are gone, rewritten or can no longer be addressed.
    Destructive,
}

impl RelationChange {
    /// What the change means for rows already applied.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::ColumnAdded(_) | Self::ModifierChanged(_, ModifierChange::Widened) => {
                Severity::Additive
            }
            Self::Recreated
            | Self::Renamed { .. }
            | Self::ReplicaIdentityChanged { .. }
            | Self::ColumnDropped(_)
            | Self::ColumnRecreated(_)
            | Self::TypeChanged(_)
            | Self::ModifierChanged(_, ModifierChange::Narrowed | ModifierChange::Other)
            | Self::KeyChanged { .. } => Severity::Destructive,
        }
    }

    /// The column concerned, when it is about one.
    pub const fn column(&self) -> Option<&Ident> {
        match self {
            Self::ColumnAdded(column)
            | Self::ColumnDropped(column)
            | Self::ColumnRecreated(column)
            | Self::TypeChanged(column)
            | Self::ModifierChanged(column, _)
            | Self::KeyChanged { column, .. } => Some(column),
            Self::Recreated | Self::Renamed { .. } | Self::ReplicaIdentityChanged { .. } => None,
        }
    }
}

/// Every difference between two descriptions: of the table first, then of its columns in their old order, then
/// the added ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RelationDiff {
    changes: Vec<RelationChange>,
}

impl RelationDiff {
    /// The differences.
    pub fn changes(&self) -> &[RelationChange] {
        &self.changes
    }

    /// The first destructive difference; `None` when all of them are additive.
    pub fn destructive(&self) -> Option<&RelationChange> {
        self.changes
            .iter()
            .find(|change| change.severity() == Severity::Destructive)
    }
}

/// Compares what a table was with what it is.
pub fn diff(old: &Relation, new: &Relation) -> RelationDiff {
    let mut changes = Vec::new();
    if old.oid != new.oid {
        changes.push(RelationChange::Recreated);
    }
    if old.name != new.name {
        changes.push(RelationChange::Renamed {
            from: old.name.clone(),
        });
    }
    if old.replica_identity != new.replica_identity {
        changes.push(RelationChange::ReplicaIdentityChanged {
            from: old.replica_identity,
            to: new.replica_identity,
        });
    }
    let recreated = recreated(old, new);
    let now: HashMap<&Ident, &RelationColumn> = by_name(new).collect();
    for column in &old.columns {
        match now.get(&column.name) {
            None => changes.push(RelationChange::ColumnDropped(column.name.clone())),
            Some(new) => {
                if recreated.contains(&column.name) {
                    changes.push(RelationChange::ColumnRecreated(column.name.clone()));
                }
                compare_columns(column, new, &mut changes);
            }
        }
    }
    let before: HashSet<&Ident> = by_name(old).map(|(name, _)| name).collect();
    let added = new
        .columns
        .iter()
        .filter(|column| !before.contains(&column.name));
    changes.extend(added.map(|column| RelationChange::ColumnAdded(column.name.clone())));
    RelationDiff { changes }
}

fn compare_columns(old: &RelationColumn, new: &RelationColumn, changes: &mut Vec<RelationChange>) {
    let name = || old.name.clone();
    if old.type_oid != new.type_oid {
        changes.push(RelationChange::TypeChanged(name()));
    } else if old.type_modifier != new.type_modifier {
        let change = modifier::classify(old.type_oid, old.type_modifier, new.type_modifier);
        changes.push(RelationChange::ModifierChanged(name(), change));
    }
    if old.key != new.key {
        changes.push(RelationChange::KeyChanged {
            column: name(),
            to: new.key,
        });
    }
}

/// Columns present in both that cannot be the same column.
///
/// The server sends columns in the order they were created and that order never changes. So once a common column
/// stands behind one that used to follow it, it was created anew, and so was every common column after it.
fn recreated<'a>(old: &Relation, new: &'a Relation) -> HashSet<&'a Ident> {
    let place: HashMap<&Ident, usize> = by_name(old)
        .enumerate()
        .map(|(at, (name, _))| (name, at))
        .collect();
    let mut last = None;
    new.columns
        .iter()
        .filter_map(|column| Some((&column.name, *place.get(&column.name)?)))
        .skip_while(|(_, at)| {
            let in_order = last.is_none_or(|last| last < *at);
            last = Some(*at);
            in_order
        })
        .map(|(name, _)| name)
        .collect()
}

fn by_name(relation: &Relation) -> impl Iterator<Item = (&Ident, &RelationColumn)> {
    relation.columns.iter().map(|column| (&column.name, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use RelationChange as Is;

    const INT4: u32 = 23;
    const INT8: u32 = 20;
    const VARCHAR: u32 = 1043;

    fn column(name: &str, type_oid: u32, type_modifier: i32, key: KeyPart) -> RelationColumn {
        RelationColumn {
            name: ident(name),
            type_oid,
            type_modifier,
            key,
        }
    }

    fn ident(name: &str) -> Ident {
        Ident::new(name).unwrap()
    }

    /// Table `public.t (id int4 key, a varchar(10), b int4)`, after an edit.
    fn table(edit: impl Fn(&mut Relation)) -> Relation {
        let mut relation = Relation {
            oid: 16_384,
            name: QualifiedName::new("public", "t").unwrap(),
            replica_identity: ReplicaIdentity::Default,
            columns: vec![
                column("id", INT4, -1, KeyPart::Key),
                column("a", VARCHAR, 14, KeyPart::NotKey),
                column("b", INT4, -1, KeyPart::NotKey),
            ],
        };
        edit(&mut relation);
        relation
    }

    fn changes(edit: impl Fn(&mut Relation)) -> Vec<RelationChange> {
        diff(&table(|_| {}), &table(edit)).changes
    }

    #[test]
    fn every_difference_is_named() {
        let renamed = QualifiedName::new("public", "t").unwrap();
        let cases: [(&str, &dyn Fn(&mut Relation), Vec<RelationChange>); 12] = [
            ("nothing", &|_| {}, vec![]),
            ("recreated", &|r| r.oid += 1, vec![Is::Recreated]),
            (
                "renamed",
                &|r| r.name = QualifiedName::new("public", "u").unwrap(),
                vec![Is::Renamed { from: renamed }],
            ),
            (
                "replica identity",
                &|r| r.replica_identity = ReplicaIdentity::Full,
                vec![Is::ReplicaIdentityChanged {
                    from: ReplicaIdentity::Default,
                    to: ReplicaIdentity::Full,
                }],
            ),
            (
                "added",
                &|r| r.columns.push(column("c", INT4, -1, KeyPart::NotKey)),
                vec![Is::ColumnAdded(ident("c"))],
            ),
            (
                "dropped",
                &|r| drop(r.columns.remove(1)),
                vec![Is::ColumnDropped(ident("a"))],
            ),
            (
                "column renamed, which is dropped and added",
                &|r| r.columns[1].name = ident("A"),
                vec![Is::ColumnDropped(ident("a")), Is::ColumnAdded(ident("A"))],
            ),
            (
                "type",
                &|r| r.columns[2].type_oid = INT8,
                vec![Is::TypeChanged(ident("b"))],
            ),
            (
                "widened",
                &|r| r.columns[1].type_modifier = 24,
                vec![Is::ModifierChanged(ident("a"), ModifierChange::Widened)],
            ),
            (
                "narrowed",
                &|r| r.columns[1].type_modifier = 13,
                vec![Is::ModifierChanged(ident("a"), ModifierChange::Narrowed)],
            ),
            (
                "key flag",
                &|r| r.columns[1].key = KeyPart::Key,
                vec![Is::KeyChanged {
                    column: ident("a"),
                    to: KeyPart::Key,
                }],
            ),
            (
                "dropped and added again, seen by its place",
                &|r| r.columns.swap(1, 2),
                vec![Is::ColumnRecreated(ident("a"))],
            ),
        ];
        for (label, edit, expected) in cases {
            assert_eq!(changes(edit), expected, "{label}");
        }
    }

    #[test]
    fn columns_recreated_together_are_all_named() {
        // id, a, b became b, a2.., with id and a added again behind.
        let seen = changes(|r| {
            r.columns = vec![
                column("b", INT4, -1, KeyPart::NotKey),
                column("new", INT4, -1, KeyPart::NotKey),
                column("id", INT4, -1, KeyPart::Key),
                column("a", VARCHAR, 14, KeyPart::NotKey),
            ];
        });
        let expected = [
            Is::ColumnRecreated(ident("id")),
            Is::ColumnRecreated(ident("a")),
            Is::ColumnAdded(ident("new")),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn only_added_columns_and_widened_modifiers_are_harmless() {
        let harmless = diff(
            &table(|_| {}),
            &table(|r| {
                r.columns.push(column("c", INT4, -1, KeyPart::NotKey));
                r.columns[1].type_modifier = -1;
            }),
        );
        assert_eq!(harmless.changes().len(), 2);
        assert_eq!(harmless.destructive(), None);
        let edits: [&dyn Fn(&mut Relation); 8] = [
            &|r| r.oid += 1,
            &|r| r.name = QualifiedName::new("other", "t").unwrap(),
            &|r| r.replica_identity = ReplicaIdentity::Nothing,
            &|r| drop(r.columns.pop()),
            &|r| r.columns.swap(0, 1),
            &|r| r.columns[0].type_oid = INT8,
            &|r| r.columns[1].type_modifier = 5,
            &|r| r.columns[0].key = KeyPart::NotKey,
        ];
        for (at, edit) in edits.into_iter().enumerate() {
            let diff = diff(&table(|_| {}), &table(edit));
            assert!(diff.destructive().is_some(), "edit {at}");
        }
    }
}
