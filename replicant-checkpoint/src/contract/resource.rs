//! What a resource declares: its source and destination tables, columns, keys, actions and policies.

/// Schema and table, as declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct TableName {
    /// The schema.
    pub schema: &'static str,
    /// The table.
    pub table: &'static str,
}

/// How the destination holds the source's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Current state: one destination row per source row.
    Mirror,
}

/// What a TRUNCATE on the source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OnTruncate {
    /// Stop; nobody said that losing every row is meant. The default.
    Halt,
    /// Delete every destination row.
    Mirror,
}

/// What a destructive schema change on the source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OnSchemaChange {
    /// Stop before the first row of the new shape. The default.
    HaltDestructive,
    /// Go on without a dropped column. Type and replica identity changes stop even so.
    Ignore,
}

/// The family a Rust field type promises for its column. It bounds which PostgreSQL types admission accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Storage {
    /// `bool`.
    Bool,
    /// `i16`: smallint.
    Int2,
    /// `i32`: up to integer.
    Int4,
    /// `i64`: up to bigint.
    Int8,
    /// `f32`: real.
    Float4,
    /// `f64`: up to double precision.
    Float8,
    /// `String`: text-like types and enums.
    Text,
    /// `Vec<u8>`: bytea.
    Bytes,
    /// A decimal type: numeric.
    Numeric,
    /// A UUID type: uuid.
    Uuid,
    /// A calendar date: date.
    Date,
    /// A time of day: time.
    Time,
    /// A local date and time: timestamp.
    Timestamp,
    /// An instant: timestamptz.
    TimestampTz,
    /// A JSON value: json, jsonb.
    Json,
    /// `PgText`: any type at all, as the server's text.
    Any,
    /// A list of any of the above: a true array.
    Array,
}

/// Can the column hold NULL?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Nullability {
    /// The field is `Option<T>`.
    Nullable,
    /// The field is `T`.
    NotNull,
}

/// Where a column's value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Origin {
    /// The source column of this name.
    Source(&'static str),
    /// The destination makes it (`#[replicant(generated)]`): a surrogate key, never read from the source.
    Destination,
}

/// Whether a type pair that loses information is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Fidelity {
    /// Only lossless pairs are admitted. The default.
    Lossless,
    /// `#[replicant(lossy)]`: the loss is meant.
    Lossy,
}

/// Is a field visible to `accept = all`?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Visibility {
    /// Yes. The default.
    Public,
    /// `#[replicant(private)]`: no action accepts it.
    Private,
}

/// One declared column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnSpec {
    /// The Rust field, raw prefix removed. Identities and accept lists name fields.
    pub field: &'static str,
    /// Where the value comes from.
    pub origin: Origin,
    /// The destination column.
    pub target: &'static str,
    /// What the Rust type promises.
    pub storage: Storage,
    /// Whether NULL is possible.
    pub nullability: Nullability,
    /// Whether losing information is accepted.
    pub fidelity: Fidelity,
    /// Whether `accept = all` includes it.
    pub visibility: Visibility,
    /// `sql_type = "..."`, the destination type that migrations write.
    pub sql_type: Option<&'static str>,
}

/// A declared unique key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdentitySpec {
    /// Its name, for `upsert_identity`.
    pub name: &'static str,
    /// Its fields.
    pub keys: &'static [&'static str],
}

/// What an action does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum ActionKind {
    /// Reads rows.
    Read,
    /// Inserts or upserts a row.
    Create,
    /// Updates a row.
    Update,
    /// Deletes a row.
    Destroy,
}

/// Which fields an action may set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accept {
    /// Every field that is neither private nor generated.
    All,
    /// These fields.
    Fields(&'static [&'static str]),
}

/// One declared action. The primary of a kind has no name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActionSpec {
    /// What it does.
    pub kind: ActionKind,
    /// Its name; `None` is the primary of its kind.
    pub name: Option<&'static str>,
    /// Which fields it may set.
    pub accept: Accept,
}

/// A whole declaration, legal or not; [`rules`](super::rules) say which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceSpec {
    /// The Rust type's name, for diagnostics only. It is not part of the contract.
    pub rust_name: &'static str,
    /// The table on the source.
    pub source: TableName,
    /// The table in the destination.
    pub target: TableName,
    /// How rows are held.
    pub shape: Shape,
    /// Columns in field order.
    pub columns: &'static [ColumnSpec],
    /// Source columns that are not mirrored.
    pub skips: &'static [&'static str],
    /// Fields of the destination's primary key, in field order. Empty for a table without one.
    pub primary_key: &'static [&'static str],
    /// Declared identities.
    pub identities: &'static [IdentitySpec],
    /// The identity rows are found by; `None` means the primary key.
    pub upsert_identity: Option<&'static str>,
    /// Truncate policy.
    pub on_truncate: OnTruncate,
    /// Schema change policy.
    pub on_schema_change: OnSchemaChange,
    /// Declared actions.
    pub actions: &'static [ActionSpec],
    /// The macro already reported mistakes in it; relations with other resources skip it.
    pub broken: bool,
}

impl ResourceSpec {
    /// What stands in for a declaration that could not be read; relations skip it.
    pub const BROKEN: Self = Self {
        rust_name: "",
        source: TableName {
            schema: "",
            table: "",
        },
        target: TableName {
            schema: "",
            table: "",
        },
        shape: Shape::Mirror,
        columns: &[],
        skips: &[],
        primary_key: &[],
        identities: &[],
        upsert_identity: None,
        on_truncate: OnTruncate::Halt,
        on_schema_change: OnSchemaChange::HaltDestructive,
        actions: &[],
        broken: true,
    };

    /// The fields rows are found by: the upsert identity's, or the primary key's. Empty for a table without either.
    pub fn key_fields(&self) -> &'static [&'static str] {
        match self.upsert_identity {
            None => self.primary_key,
            Some(name) => self
                .identities
                .iter()
                .find(|identity| identity.name == name)
                .map_or(&[], |identity| identity.keys),
        }
    }

    /// The column with this field name.
    pub fn column(&self, field: &str) -> Option<&'static ColumnSpec> {
        self.columns.iter().find(|column| column.field == field)
    }
}
