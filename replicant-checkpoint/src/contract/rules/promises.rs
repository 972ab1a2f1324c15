//! What the Rust types promise, judged where the types are known: by the compiler on what the macros emitted, and
//! again by admission for specifications written by hand.
//!
//! [`demanded`] lists every promise that a declaration needs, each with the part of it that makes the promise. The
//! macros emit one [`refuse`] for each, at the token of the part; [`types`] runs the same list at run time.

use super::list::Rule;
use super::violation::{Part, Violation};
use crate::contract::action::ActionSpec;
use crate::contract::column::{ColumnSpec, Nullability, Origin, Protection, Storage, Wrapping};
use crate::contract::constant::{equal, listed};
use crate::contract::declared::{DeclaredOrigin, DeclaredResource, DeclaredShape};
use crate::contract::message::CONTENT_FIELD;
use crate::contract::refusal::Fact;
use crate::contract::resource::{OnTruncate, ResourceSpec};
use crate::contract::role::{Role, RoleOf};
use crate::contract::tenancy::{Tenancy, TenancyReach, TenancyStrategy, TenantSource};

/// Every promise that the declaration needs: the rule it would break, and the part of the declaration that makes it.
///
/// `column_type` is not among them: it is a trait bound, and a specification always has a storage.
pub fn demanded(declared: &DeclaredResource) -> Vec<(Rule, Part)> {
    let identities = declared.identities.iter();
    let keys: Vec<&String> = declared
        .primary_key
        .iter()
        .chain(identities.flat_map(|identity| identity.keys.iter().flatten()))
        .collect();
    let holder = declared.tenant_field();
    let teller = declared.tenancy.attribute.as_deref();
    let takes_messages = declared.shape() == DeclaredShape::Auxiliary
        && declared
            .actions
            .iter()
            .flatten()
            .any(|one| one.message.is_some());
    let mut demanded = Vec::new();
    for (index, column) in declared.columns.iter().enumerate() {
        let field = column.field.as_str();
        let mut demand = |rule: Rule, needed: bool| {
            if needed {
                demanded.push((rule, Part::ColumnType(index)));
            }
        };
        let role = declared.role_of(field).is_some();
        let tenant = [holder, teller].contains(&Some(field));
        let sensitive = match &column.origin {
            DeclaredOrigin::Source(name) | DeclaredOrigin::Before(name) => {
                declared.sensitive.contains(name)
            }
            DeclaredOrigin::Destination | DeclaredOrigin::Stamp | DeclaredOrigin::Action => false,
        };
        let sealed = column.protection == Protection::Sealed;
        demand(Rule::KeyNullable, keys.iter().any(|key| *key == field));
        demand(Rule::EncryptedType, sealed);
        demand(Rule::EncryptedMissing, !sealed);
        // A tenant cannot be sensitive at all, which is one mistake and reported.
        demand(Rule::SensitivePlain, sensitive && !sealed && !tenant);
        demand(Rule::RoleStorage, role);
        demand(Rule::RoleNullability, role);
        let may_be_absent = match column.origin {
            DeclaredOrigin::Before(_) => true,
            DeclaredOrigin::Source(_) => has_events_without_rows(declared),
            DeclaredOrigin::Destination | DeclaredOrigin::Stamp | DeclaredOrigin::Action => false,
        };
        // A tenant is never absent, which is why such events belong to no tenant's log.
        demand(Rule::EventNullable, may_be_absent && !role && !tenant);
        demand(Rule::TenantStorage, tenant);
        demand(Rule::TenantNullable, holder == Some(field));
        demand(
            Rule::MessageContentType,
            takes_messages && field == CONTENT_FIELD,
        );
    }
    for (index, action) in declared.actions.iter().flatten().enumerate() {
        let changes = (0..action.changes.len()).map(|entry| Part::Change(index, entry));
        let touches = (0..action.touches.len()).map(|entry| Part::Touch(index, entry));
        demanded.extend(
            changes
                .chain(touches)
                .map(|part| (Rule::DestinationParticipantMismatch, part)),
        );
    }
    demanded
}

/// A truncate that is recorded and a message have no row.
fn has_events_without_rows(declared: &DeclaredResource) -> bool {
    let takes_messages = declared.field_of(Role::MessageContent).is_some();
    declared.has(RoleOf::AppendLog)
        && (declared.on_truncate == Some(OnTruncate::Append) || takes_messages)
}

/// Stops the compiler when a part does not keep a promise.
#[track_caller]
pub const fn refuse(spec: &ResourceSpec, rule: Rule, part: Part) {
    judge(spec, rule, part).refuse(rule);
}

/// Judges the types of a compiled specification.
pub fn types(spec: &ResourceSpec) -> Vec<Violation> {
    demanded(&DeclaredResource::from(spec))
        .into_iter()
        .filter_map(|(rule, part)| {
            let fact = judge(spec, rule, part);
            (!fact.is_none()).then(|| Violation::new(rule, [part], fact.as_str()))
        })
        .collect()
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error; at run time the list is made from \
              the same specification"
)]
const fn judge(spec: &ResourceSpec, rule: Rule, part: Part) -> Fact {
    match part {
        Part::ColumnType(index) => column(spec, rule, &spec.columns[index]),
        Part::Change(action, entry) => change(&spec.actions[action], entry),
        Part::Touch(action, entry) => touch(&spec.actions[action], entry),
        _ => Fact::NONE,
    }
}

const fn column(spec: &ResourceSpec, rule: Rule, column: &ColumnSpec) -> Fact {
    let nullable = matches!(column.nullability, Nullability::Nullable);
    let fact = Fact::NONE.quote(column.field);
    match rule {
        Rule::KeyNullable if nullable && !breaks_its_role(spec, column) => fact
            .text(" is part of a key of ")
            .quote(spec.rust_name)
            .text(" and may be NULL"),
        Rule::EncryptedType
            if matches!(column.protection, Protection::Sealed)
                && matches!(column.wrapping, Wrapping::Bare) =>
        {
            fact.text(" is `encrypted`, and its type does not say so")
        }
        Rule::EncryptedMissing
            if matches!(column.protection, Protection::Plain)
                && matches!(column.wrapping, Wrapping::Sealed) =>
        {
            fact.text(" has a sealed type, and nothing seals it")
        }
        Rule::SensitivePlain if is_exposed(spec, column) => {
            fact.text(" would store a sensitive column in the clear")
        }
        Rule::RoleStorage => match spec.role_of(column.field) {
            Some(role) if !among(role.storages(), column.storage) => fact
                .text(" is to hold ")
                .text(role.as_str())
                .text(": ")
                .quote(role.rust_type()),
            _ => Fact::NONE,
        },
        Rule::RoleNullability => match spec.role_of(column.field) {
            Some(role) if !role.admits(column.nullability) => {
                let fact = fact.text(" is to hold ").text(role.as_str());
                if nullable {
                    fact.text(", which is always there: `")
                        .text(role.rust_type())
                        .text("`")
                } else {
                    fact.text(", which may be absent: `")
                        .text(role.rust_type())
                        .text("`")
                }
            }
            _ => Fact::NONE,
        },
        // Whether it is demanded at all depends on the whole declaration.
        Rule::EventNullable if !nullable => fact.text(match column.origin {
            Origin::Before(_) => {
                " is what a value was before a change, and not every event has one"
            }
            _ => " has no value in events without a row: a recorded truncate, a message",
        }),
        Rule::TenantStorage
            if tells_tenants(spec, column.field)
                && !matches!(column.wrapping, Wrapping::Sealed)
                && !compares(column.storage) =>
        {
            fact.text(" is the tenant, and its type does not compare exactly")
        }
        Rule::TenantNullable if nullable && keeps_tenants_apart(spec, column.field) => {
            fact.text(" is the tenant, and may be NULL")
        }
        Rule::MessageContentType
            if !among(&[Storage::Text, Storage::Bytes], column.storage)
                || matches!(column.wrapping, Wrapping::Sealed) =>
        {
            fact.text(" is to hold the content of messages")
        }
        _ => Fact::NONE,
    }
}

/// One mistake about NULL is enough.
const fn breaks_its_role(spec: &ResourceSpec, column: &ColumnSpec) -> bool {
    match spec.role_of(column.field) {
        Some(role) => !role.admits(column.nullability),
        None => false,
    }
}

/// Would a sensitive column be stored in the clear? Bytes are taken for what the source has encrypted; admission
/// demands that the source column is bytea too.
const fn is_exposed(spec: &ResourceSpec, column: &ColumnSpec) -> bool {
    let sensitive = match column.origin {
        Origin::Source(name) | Origin::Before(name) => listed(spec.sensitive, name),
        Origin::Destination | Origin::Stamp | Origin::Action => false,
    };
    sensitive
        && matches!(column.protection, Protection::Plain)
        && matches!(column.wrapping, Wrapping::Bare)
        && !matches!(column.storage, Storage::Bytes)
}

const fn tells_tenants(spec: &ResourceSpec, field: &str) -> bool {
    let holds = match spec.tenancy.attribute() {
        Some(holder) => equal(holder, field),
        None => false,
    };
    let tells = match spec.tenancy.source() {
        Some(TenantSource::Attribute(teller)) => equal(teller, field),
        Some(TenantSource::Function { .. }) | None => false,
    };
    holds || tells
}

/// A NULL in the tenant's column is in no unique index; where rows without a tenant are meant, that is known.
const fn keeps_tenants_apart(spec: &ResourceSpec, field: &str) -> bool {
    match &spec.tenancy {
        Tenancy::Tenanted {
            strategy: TenancyStrategy::Attribute(holder),
            reach: TenancyReach::Scoped,
            source: _,
        } => equal(holder, field),
        Tenancy::Tenanted { .. } | Tenancy::Untenanted => false,
    }
}

/// Is equality of this family the equality of its text?
const fn compares(storage: Storage) -> bool {
    match storage {
        Storage::Bool
        | Storage::Int2
        | Storage::Int4
        | Storage::Int8
        | Storage::Text
        | Storage::Uuid
        | Storage::Date
        | Storage::Any => true,
        Storage::Float4
        | Storage::Float8
        | Storage::Bytes
        | Storage::Numeric
        | Storage::Time
        | Storage::Timestamp
        | Storage::TimestampTz
        | Storage::Json
        | Storage::Array => false,
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "the index is below the length; iterators do not exist in constants"
)]
const fn among(storages: &[Storage], storage: Storage) -> bool {
    let mut at = 0;
    while at < storages.len() {
        if storages[at] as u8 == storage as u8 {
            return true;
        }
        at += 1;
    }
    false
}

/// Everything that a hook runs is declared to be touched.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
)]
const fn change(action: &ActionSpec, entry: usize) -> Fact {
    let hook = &action.changes[entry];
    let mut fact = Fact::NONE;
    let mut at = 0;
    while at < hook.participants.len() {
        let resource = hook.participants[at].resource;
        if !listed(action.touches, resource) {
            fact = fact
                .line()
                .quote(hook.name)
                .text(" runs actions of ")
                .quote(resource)
                .text(", which `touches(...)` does not list");
        }
        at += 1;
    }
    fact
}

/// Everything that is declared to be touched, a hook runs.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
)]
const fn touch(action: &ActionSpec, entry: usize) -> Fact {
    let resource = action.touches[entry];
    let mut hook = 0;
    while hook < action.changes.len() {
        let participants = action.changes[hook].participants;
        let mut at = 0;
        while at < participants.len() {
            if equal(participants[at].resource, resource) {
                return Fact::NONE;
            }
            at += 1;
        }
        hook += 1;
    }
    Fact::NONE
        .text("no hook runs an action of ")
        .quote(resource)
}
