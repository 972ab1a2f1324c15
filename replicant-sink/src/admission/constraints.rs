//! Do the destination's foreign keys, triggers and rules leave mirrored rows alone, in the asked mode?
//!
//! Deferred: everything stays enforced, so foreign keys must wait for the commit and nothing else may fire.
//! Trusted: the replica role silences foreign keys, ordinary triggers and deferred uniqueness, so nothing may exist
//! that somebody counts on. Sources: PostgreSQL documentation, "SET CONSTRAINTS" and `session_replication_role`.

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;

use super::DestinationConstraints;
use super::ddl;
use super::facts::{Facts, Fires, ForeignKey, Table};
use crate::error::Error;
use crate::reason::Reason;

/// Reports what stands in the way of the asked mode.
pub(super) fn check(
    mode: DestinationConstraints,
    targets: &[&QualifiedName],
    facts: &Facts,
    violations: &mut Vec<Error>,
) {
    if mode == DestinationConstraints::Trusted && !facts.server.may_silence {
        let role = facts.server.role.quoted();
        // Before version 15 the parameter cannot be granted.
        let fact = if facts.server.version >= 150_000 {
            format!("grant set on parameter session_replication_role to {role}")
        } else {
            format!("alter role {role} superuser")
        };
        violations.push(Error::new(
            Reason::DestinationTrustRefused,
            Site::none().fact(fact),
        ));
    }
    check_tables(mode, targets, facts, violations);
}

/// The same of these tables and of every foreign key among the facts.
pub(super) fn check_tables(
    mode: DestinationConstraints,
    targets: &[&QualifiedName],
    facts: &Facts,
    violations: &mut Vec<Error>,
) {
    for key in &facts.foreign_keys {
        violations.extend(foreign_key(mode, key));
    }
    for table in targets.iter().filter_map(|target| facts.table(target)) {
        check_triggers(mode, table, violations);
        check_rules(mode, table, violations);
        if mode == DestinationConstraints::Trusted {
            check_silenced_unique(table, violations);
        }
    }
}

fn foreign_key(mode: DestinationConstraints, key: &ForeignKey) -> Option<Error> {
    let mirrored = key.from.table.as_ref().or(key.to.table.as_ref())?;
    let site = Site::table(mirrored);
    match mode {
        DestinationConstraints::Deferred => {
            let waits = key.deferrable && key.no_action && !key.name_is_shared;
            (!waits).then(|| {
                Error::new(
                    Reason::DestinationForeignKey,
                    site.fact(ddl::deferrable(key)),
                )
            })
        }
        DestinationConstraints::Trusted => {
            // Between mirrored tables the source has enforced it; with any other table only this key does.
            let both_mirrored = key.from.table.is_some() && key.to.table.is_some();
            (!both_mirrored).then(|| {
                let drop = ddl::drop_constraint(&key.from.relation, &key.name.name);
                let fact = format!("a foreign key with a table outside the mirror: {drop}");
                Error::new(Reason::DestinationTrustRefused, site.fact(fact))
            })
        }
    }
}

/// What a trigger or rule means in the asked mode.
fn verdict(mode: DestinationConstraints, fires: Fires, interferes: Reason) -> Option<Reason> {
    match (mode, fires) {
        (_, Fires::Disabled) | (DestinationConstraints::Deferred, Fires::Replica) => None,
        (DestinationConstraints::Trusted, Fires::Origin) => Some(Reason::DestinationTrustRefused),
        (DestinationConstraints::Deferred, Fires::Origin)
        | (DestinationConstraints::Trusted, Fires::Replica)
        | (_, Fires::Always) => Some(interferes),
    }
}

fn check_triggers(mode: DestinationConstraints, table: &Table, violations: &mut Vec<Error>) {
    for trigger in &table.triggers {
        if let Some(reason) = verdict(mode, trigger.fires, Reason::DestinationTrigger) {
            let fact = format!(
                "alter table {} disable trigger {}",
                trigger.on.quoted(),
                trigger.name.quoted()
            );
            violations.push(Error::new(reason, Site::table(&table.name).fact(fact)));
        }
    }
}

fn check_rules(mode: DestinationConstraints, table: &Table, violations: &mut Vec<Error>) {
    for rule in &table.rules {
        if let Some(reason) = verdict(mode, rule.fires, Reason::DestinationRule) {
            let fact = format!(
                "drop rule {} on {}",
                rule.name.quoted(),
                table.name.quoted()
            );
            violations.push(Error::new(reason, Site::table(&table.name).fact(fact)));
        }
    }
}

/// A deferrable unique constraint is checked again by an internal trigger, which the replica role silences.
fn check_silenced_unique(table: &Table, violations: &mut Vec<Error>) {
    for index in &table.unique {
        if let Some(constraint) = &index.deferrable {
            let fact = format!(
                "a deferrable constraint would not be enforced; add it again not deferrable after: {}",
                ddl::drop_constraint(&index.on, &constraint.name)
            );
            violations.push(Error::new(
                Reason::DestinationTrustRefused,
                Site::table(&table.name).fact(fact),
            ));
        }
    }
}
