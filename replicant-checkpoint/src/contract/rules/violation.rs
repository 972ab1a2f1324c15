//! What a broken rule says: which rule, at which parts of the declaration, and the fact that breaks it.

use std::fmt;

use super::list::Rule;
use crate::contract::role::Role;

/// The address of one declared piece. The macros map it to the token to edit, so nothing here knows a span.
/// Numbers are positions in the declaration's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Part {
    /// The struct's name.
    Item,
    /// `source_schema`.
    SourceSchema,
    /// `source_table`.
    SourceTable,
    /// `schema` of a resource.
    TargetSchema,
    /// `table`.
    TargetTable,
    /// A field's name.
    Field(usize),
    /// A field's source column: `source = "..."`, or the field's name.
    ColumnSource(usize),
    /// A field's destination column: `column = "..."`, or the field's name.
    ColumnTarget(usize),
    /// A field's `sql_type`.
    ColumnSqlType(usize),
    /// A field's `private`.
    ColumnPrivate(usize),
    /// A field's `generated`.
    ColumnGenerated(usize),
    /// A field's `encrypted`.
    ColumnEncrypted(usize),
    /// A field's `before = ...`.
    ColumnBefore(usize),
    /// A field's Rust type.
    ColumnType(usize),
    /// An entry of `skip(...)`.
    Skip(usize),
    /// An entry of `sensitive(...)`.
    Sensitive(usize),
    /// What asked for a shape, `history_strategy = scd2`, `append_log` or `auxiliary`: which of
    /// [`DeclaredResource::shapes`](crate::contract::declared::DeclaredResource::shapes).
    Shape(usize),
    /// The field named for a role.
    Role(Role),
    /// `history_business_key(...)`.
    BusinessKey,
    /// A field of the business key.
    BusinessKeyField(usize),
    /// `history_close_action`.
    CloseAction,
    /// `append_action`.
    AppendAction,
    /// `append_identity`.
    AppendIdentity,
    /// `snapshot_provenance`.
    Provenance,
    /// `snapshot_mark_action`.
    MarkAction,
    /// `snapshot_retire_action`.
    RetireAction,
    /// `snapshot_scopes(...)`.
    SnapshotScopes,
    /// `multitenancy(...)` of a resource.
    Multitenancy,
    /// `strategy` of it.
    TenancyStrategy,
    /// `attribute` of it.
    TenancyAttribute,
    /// `schema` of it.
    TenancySchema,
    /// `tenant_attribute`.
    TenantAttribute,
    /// `tenant_fn(...)`.
    TenantFunction,
    /// `on_truncate`.
    OnTruncate,
    /// `on_schema_change`.
    OnSchemaChange,
    /// A field of the primary key.
    PrimaryKey(usize),
    /// An identity's name.
    IdentityName(usize),
    /// An identity's `keys(...)`.
    IdentityKeys(usize),
    /// A field of an identity: which identity, which entry.
    IdentityKey(usize, usize),
    /// An identity's `all_tenants`.
    IdentityReach(usize),
    /// An identity's `where`.
    IdentityPredicate(usize),
    /// `upsert_identity`.
    UpsertIdentity,
    /// `actions(...)`.
    Actions,
    /// An action's kind.
    Action(usize),
    /// An action's name.
    ActionName(usize),
    /// An action's `accept`.
    ActionAccept(usize),
    /// A field of an accept list: which action, which entry.
    AcceptField(usize, usize),
    /// An action's `private`.
    ActionPrivate(usize),
    /// An action's `multitenancy`.
    ActionTenancy(usize),
    /// An action's `mark_seen`.
    ActionMarking(usize),
    /// A hook of `changes(...)`: which action, which entry.
    Change(usize, usize),
    /// A hook of `validations(...)`: which action, which entry.
    Validation(usize, usize),
    /// A resource of `touches(...)`: which action, which entry.
    Touch(usize, usize),
    /// An action's `message(...)`.
    Message(usize),
    /// `retention` of it.
    MessageRetention(usize),
    /// `effect` of it.
    MessageEffect(usize),
    /// `schema` of a checkpoint.
    CheckpointSchema,
    /// `grants(select = ...)`.
    SelectGrant,
    /// `slot_name`.
    SlotName,
    /// `sink_kind`.
    SinkKind,
    /// `initial_state`.
    InitialState,
    /// An entry of `ignored_sources(...)`.
    IgnoredSource(usize),
    /// `message_routes(...)`.
    MessageRoutes,
    /// The prefix of a route.
    RoutePrefix(usize),
    /// The resource of a route.
    RouteResource(usize),
    /// The action of a route.
    RouteAction(usize),
    /// An entry of `ignored_message_prefixes(...)`.
    IgnoredPrefix(usize),
    /// `recovery_horizon`.
    RecoveryHorizon,
    /// An entry of `domains(...)`.
    Domain(usize),
    /// An entry of `resources(...)`.
    DomainResource(usize),
}

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The rule that is broken.
    pub rule: Rule,
    /// The part to edit, then parts that silencing goes by and other places of the same mistake.
    pub subjects: Vec<Part>,
    /// What is so, in names from the declaration.
    pub fact: String,
}

impl Violation {
    /// A mistake at these parts, the one to edit first.
    pub fn new(rule: Rule, subjects: impl Into<Vec<Part>>, fact: impl Into<String>) -> Self {
        Self {
            rule,
            subjects: subjects.into(),
            fact: fact.into(),
        }
    }

    /// The part to edit.
    pub fn part(&self) -> Part {
        self.subjects.first().copied().unwrap_or(Part::Item)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.rule, self.fact, self.rule.help())
    }
}

/// Drops what is only a consequence of another mistake at the same part: one cause, one message.
pub(super) fn without_consequences(found: Vec<Violation>) -> Vec<Violation> {
    let causes: Vec<(Rule, Vec<Part>)> = found
        .iter()
        .map(|violation| (violation.rule, violation.subjects.clone()))
        .collect();
    found
        .into_iter()
        .filter(|violation| {
            !causes.iter().any(|(rule, parts)| {
                violation.rule.silenced_by().contains(rule)
                    && parts.iter().any(|part| violation.subjects.contains(part))
            })
        })
        .collect()
}
