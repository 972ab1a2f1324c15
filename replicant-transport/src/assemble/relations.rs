//! How each table was last described in this session.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ident::QualifiedName;
use crate::position::CommitLsn;
use crate::relation::Relation;
use crate::sink::RelationSeen;

/// Table descriptions by object id, and who carried a name last.
///
/// The name matters when a table is dropped and created again: the new one has another object id, and what was
/// known under its name is what it has to be compared with.
#[derive(Debug, Default)]
pub(super) struct Relations {
    by_oid: HashMap<u32, Arc<Relation>>,
    oid_by_name: HashMap<QualifiedName, u32>,
}

impl Relations {
    /// The description that rows with this object id use.
    pub(super) fn get(&self, oid: u32) -> Option<Arc<Relation>> {
        self.by_oid.get(&oid).cloned()
    }

    /// Takes a description. `None` when it says what the last one said, which the server repeats freely: after
    /// ANALYZE, VACUUM FULL or CREATE INDEX, for example.
    pub(super) fn describe(
        &mut self,
        relation: Relation,
        commit_lsn: Option<CommitLsn>,
    ) -> Option<RelationSeen> {
        let known = self.by_oid.get(&relation.oid);
        if known.is_some_and(|known| **known == relation) {
            return None;
        }
        let previous = known
            .or_else(|| self.by_oid.get(self.oid_by_name.get(&relation.name)?))
            .cloned();
        let relation = Arc::new(relation);
        self.by_oid.insert(relation.oid, Arc::clone(&relation));
        self.oid_by_name.insert(relation.name.clone(), relation.oid);
        Some(RelationSeen {
            relation,
            previous,
            commit_lsn,
        })
    }
}
