//! What was written, before anything is known about types: the names that the `names` rules judge.
//!
//! The macros build it from tokens, admission from a compiled specification. A part that the macros could not read
//! is absent here, because its mistake is reported already. What was left out is absent too; the questions of
//! [`DeclaredResource`] know the defaults.

mod from_spec;

use super::action::{ActionKind, ActionTenancy, Marking};
use super::column::{Protection, Visibility};
use super::identity::IdentityReach;
use super::resource::{OnSchemaChange, OnTruncate};
use super::role::{Role, RoleOf, Unnamed};
use super::sink::{InitialState, SinkKind};
use super::tenancy::TenancyReach;
use super::{append, history, provenance};

/// A resource as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredResource {
    /// The struct's name.
    pub rust_name: String,
    /// Schema of the source table. Absent for an auxiliary resource unless written.
    pub source_schema: Option<String>,
    /// The source table. Absent for an auxiliary resource unless written.
    pub source_table: Option<String>,
    /// Schema of the destination table.
    pub schema: Option<String>,
    /// The destination table.
    pub table: Option<String>,
    /// The shapes asked for, in order; none is a mirror, two are a mistake.
    pub shapes: Vec<DeclaredShape>,
    /// What was written about a history.
    pub history: DeclaredHistory,
    /// What was written about an append log.
    pub append: DeclaredAppend,
    /// What was written about snapshot provenance.
    pub provenance: DeclaredProvenance,
    /// The fields named for roles, as written: one entry per option of [`Role::option`].
    pub roles: Vec<(Role, String)>,
    /// What was written about tenants.
    pub tenancy: DeclaredTenancy,
    /// Columns in field order.
    pub columns: Vec<DeclaredColumn>,
    /// Skipped source columns.
    pub skips: Vec<String>,
    /// Sensitive source columns.
    pub sensitive: Vec<String>,
    /// Fields of the primary key.
    pub primary_key: Vec<String>,
    /// Identities.
    pub identities: Vec<DeclaredIdentity>,
    /// The identity rows are found by.
    pub upsert_identity: Option<String>,
    /// Truncate policy.
    pub on_truncate: Option<OnTruncate>,
    /// Schema change policy.
    pub on_schema_change: Option<OnSchemaChange>,
    /// Actions; `None` when there was no readable `actions(...)`.
    pub actions: Option<Vec<DeclaredAction>>,
}

/// How rows are held, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DeclaredShape {
    /// Nothing was written, or `history_strategy = scd1`.
    Mirror,
    /// `history_strategy = scd2`.
    History,
    /// `append_log`.
    AppendLog,
    /// `auxiliary`.
    Auxiliary,
}

impl DeclaredShape {
    /// How a message calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mirror => "a mirror",
            Self::History => "a history",
            Self::AppendLog => "an append log",
            Self::Auxiliary => "auxiliary",
        }
    }
}

/// Was a flag written?
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Hash)]
pub enum Written {
    /// No.
    #[default]
    No,
    /// Yes.
    Yes,
}

/// `history_...` options as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredHistory {
    /// `history_business_key(...)`.
    pub business_key: Option<Vec<String>>,
    /// `history_close_action`.
    pub close_action: Option<String>,
}

/// `append_...` options as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredAppend {
    /// `append_action`.
    pub action: Option<String>,
    /// `append_identity`.
    pub identity: Option<String>,
}

/// `snapshot_...` options as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredProvenance {
    /// `snapshot_provenance`.
    pub opted_in: Written,
    /// `snapshot_mark_action`.
    pub mark_action: Option<String>,
    /// `snapshot_retire_action`.
    pub retire_action: Option<String>,
    /// `snapshot_scopes(path = ...)`, the path as written.
    pub scopes: Option<String>,
}

/// What was written about tenants.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredTenancy {
    /// `multitenancy(...)`.
    pub block: Option<DeclaredMultitenancy>,
    /// `tenant_attribute`.
    pub attribute: Option<String>,
    /// `tenant_fn(...)`.
    pub function: Option<DeclaredTenantFn>,
}

/// `multitenancy(...)` as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredMultitenancy {
    /// `strategy`; `None` when it could not be read.
    pub strategy: Option<DeclaredStrategy>,
    /// `attribute`.
    pub attribute: Option<String>,
    /// `schema`.
    pub schema: Option<String>,
    /// Whether `global` was written.
    pub reach: TenancyReach,
}

/// What keeps tenants apart, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DeclaredStrategy {
    /// `strategy = attribute`.
    Attribute,
    /// `strategy = context`.
    Context,
}

/// `tenant_fn(path = ..., args(...))` as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredTenantFn {
    /// The function's path, as written.
    pub path: String,
    /// What it is called with beside the row.
    pub args: Vec<String>,
}

/// A field as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredColumn {
    /// The field's name.
    pub field: String,
    /// Where the value comes from; [`DeclaredResource::default_origin`] when nothing was written about it.
    pub origin: DeclaredOrigin,
    /// The destination column.
    pub target: String,
    /// Whether it is stored sealed.
    pub protection: Protection,
    /// Whether actions may accept it.
    pub visibility: Visibility,
    /// The type migrations write.
    pub sql_type: Option<String>,
}

/// Where a field's value comes from.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum DeclaredOrigin {
    /// The source column of this name.
    Source(String),
    /// What that source column held before the change.
    Before(String),
    /// The destination makes it.
    Destination,
    /// The sink fills it.
    Stamp,
    /// An action sets it.
    Action,
}

/// An identity as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredIdentity {
    /// Its name.
    pub name: String,
    /// Its fields; `None` when there was no readable `keys(...)`.
    pub keys: Option<Vec<String>>,
    /// Whether `all_tenants` was written.
    pub reach: IdentityReach,
    /// `where`.
    pub predicate: Option<String>,
}

/// An action as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredAction {
    /// What it does.
    pub kind: ActionKind,
    /// Its name, unless it is the primary of its kind.
    pub name: Option<String>,
    /// Which fields it may set.
    pub accept: DeclaredAccept,
    /// Whether `private` was written.
    pub visibility: Visibility,
    /// `multitenancy`.
    pub tenancy: ActionTenancy,
    /// Whether `mark_seen` was written.
    pub marking: Marking,
    /// `changes(...)`, paths as written.
    pub changes: Vec<String>,
    /// `validations(...)`, paths as written.
    pub validations: Vec<String>,
    /// `touches(...)`, paths as written.
    pub touches: Vec<String>,
    /// `message(...)`.
    pub message: Option<DeclaredMessage>,
}

/// An accept list as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeclaredAccept {
    /// `accept = all`.
    All,
    /// `accept(a, b)`, or nothing at all.
    Fields(Vec<String>),
}

/// `message(...)` as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredMessage {
    /// `retention`; `None` when it is absent or could not be read.
    pub retention: Option<String>,
    /// `effect`, the path as written.
    pub effect: Option<String>,
}

/// A checkpoint as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredCheckpoint {
    /// Schema of the checkpoint tables.
    pub schema: Option<String>,
    /// The role that may read them.
    pub select_grant: Option<String>,
}

/// A sink as written, without what its domains hold.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredSink {
    /// The slot.
    pub slot_name: Option<String>,
    /// What it is made of.
    pub kind: Option<SinkKind>,
    /// Where its log begins.
    pub initial_state: Option<InitialState>,
    /// Ignored tables, each "schema.table".
    pub ignored_sources: Vec<String>,
    /// Message routes.
    pub message_routes: Vec<DeclaredRoute>,
    /// Prefixes of dropped messages.
    pub ignored_message_prefixes: Vec<String>,
    /// `recovery_horizon`.
    pub recovery_horizon: Option<String>,
}

/// `route("prefix", Resource, action)` as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredRoute {
    /// The prefix.
    pub prefix: String,
    /// The resource's path, as written.
    pub resource: String,
    /// The action.
    pub action: String,
}

impl DeclaredResource {
    /// How rows are held: the first shape asked for.
    pub fn shape(&self) -> DeclaredShape {
        self.shapes
            .first()
            .copied()
            .unwrap_or(DeclaredShape::Mirror)
    }

    /// Does the declaration have the roles of this group?
    pub fn has(&self, roles: RoleOf) -> bool {
        match roles {
            RoleOf::History => self.shape() == DeclaredShape::History,
            RoleOf::AppendLog => self.shape() == DeclaredShape::AppendLog,
            RoleOf::Provenance => self.provenance.opted_in == Written::Yes,
        }
    }

    /// The field that an option names for a role.
    pub fn written(&self, role: Role) -> Option<&str> {
        let named = self.roles.iter().find(|(one, _)| *one == role);
        named.map(|(_, field)| field.as_str())
    }

    /// The field that holds a role, whether or not there is one of that name. `None` when the role is not filled.
    pub fn field_of(&self, role: Role) -> Option<&str> {
        if !self.has(role.of()) {
            return None;
        }
        if let Some(field) = self.written(role) {
            return Some(field);
        }
        match role.unnamed() {
            Unnamed::Field(field) => Some(field),
            Unnamed::FieldIfAny(field) => self.column(field).map(|_| field),
            Unnamed::Nothing => None,
        }
    }

    /// The role that a field holds. It can be asked before the columns are known.
    pub fn role_of(&self, field: &str) -> Option<Role> {
        let holds = |role: Role| {
            self.has(role.of())
                && match (self.written(role), role.unnamed()) {
                    (Some(named), _) => named == field,
                    (None, Unnamed::Field(named) | Unnamed::FieldIfAny(named)) => named == field,
                    (None, Unnamed::Nothing) => false,
                }
        };
        Role::ALL.iter().copied().find(|role| holds(*role))
    }

    /// Where a field's value comes from when nothing was written on it: a role or a computed tenant is filled by the
    /// sink, a field of an auxiliary resource by an action, everything else by the source column of its name. It can
    /// be asked before the columns are known.
    pub fn default_origin(&self, field: &str) -> DeclaredOrigin {
        if self.role_of(field).is_some() || self.is_computed_tenant(field) {
            DeclaredOrigin::Stamp
        } else if self.shape() == DeclaredShape::Auxiliary {
            DeclaredOrigin::Action
        } else {
            DeclaredOrigin::Source(field.to_owned())
        }
    }

    /// Does the sink write the tenant into this field, because it is not simply the field's source column?
    fn is_computed_tenant(&self, field: &str) -> bool {
        let DeclaredTenancy {
            block,
            attribute,
            function,
        } = &self.tenancy;
        let column = block.as_ref().and_then(|block| block.attribute.as_deref());
        let other = attribute.as_deref().is_some_and(|read| read != field);
        self.shape() != DeclaredShape::Auxiliary
            && column == Some(field)
            && (function.is_some() || other)
    }

    /// The column of a field, with its position.
    pub fn column(&self, field: &str) -> Option<(usize, &DeclaredColumn)> {
        let mut columns = self.columns.iter().enumerate();
        columns.find(|(_, column)| column.field == field)
    }

    /// Does something tell whose a row is?
    pub fn tells_tenants(&self) -> bool {
        self.tenancy.attribute.is_some() || self.tenancy.function.is_some()
    }

    /// The field that holds the tenant in the destination.
    pub fn tenant_field(&self) -> Option<&str> {
        let block = self.tenancy.block.as_ref()?;
        match block.strategy {
            Some(DeclaredStrategy::Attribute) => block.attribute.as_deref(),
            Some(DeclaredStrategy::Context) | None => None,
        }
    }

    /// The action that closes a version.
    pub fn close_action(&self) -> &str {
        let written = self.history.close_action.as_deref();
        written.unwrap_or(history::CLOSE_ACTION)
    }

    /// The action that records an event.
    pub fn append_action(&self) -> &str {
        self.append.action.as_deref().unwrap_or(append::ACTION)
    }

    /// The identity of an event.
    pub fn append_identity(&self) -> &str {
        self.append.identity.as_deref().unwrap_or(append::IDENTITY)
    }

    /// The action that marks a row.
    pub fn mark_action(&self) -> &str {
        let written = self.provenance.mark_action.as_deref();
        written.unwrap_or(provenance::MARK_ACTION)
    }

    /// The action that retires a row.
    pub fn retire_action(&self) -> &str {
        let written = self.provenance.retire_action.as_deref();
        written.unwrap_or(provenance::RETIRE_ACTION)
    }
}

impl DeclaredColumn {
    /// The source column whose present value is mirrored.
    pub fn source(&self) -> Option<&str> {
        match &self.origin {
            DeclaredOrigin::Source(name) => Some(name),
            DeclaredOrigin::Before(_)
            | DeclaredOrigin::Destination
            | DeclaredOrigin::Stamp
            | DeclaredOrigin::Action => None,
        }
    }
}

impl DeclaredAction {
    /// An unnamed public action without hooks.
    pub fn new(kind: ActionKind, accept: DeclaredAccept) -> Self {
        Self {
            kind,
            name: None,
            accept,
            visibility: Visibility::Public,
            tenancy: ActionTenancy::Enforce,
            marking: Marking::Unmarked,
            changes: Vec::new(),
            validations: Vec::new(),
            touches: Vec::new(),
            message: None,
        }
    }

    /// What others call it: its name, or the word of its kind.
    pub fn called(&self) -> &str {
        self.name.as_deref().unwrap_or(self.kind.as_str())
    }
}
