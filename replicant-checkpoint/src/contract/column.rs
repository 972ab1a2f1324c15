//! What a field of a resource declares: where its value comes from, where it goes, and what its type promises.

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
    /// What the source column of this name held before the change (`#[replicant(before = "...")]`); append logs only.
    Before(&'static str),
    /// The destination makes it (`#[replicant(generated)]`): a surrogate key, never read from the source.
    Destination,
    /// The sink fills it: a window, structural or provenance column, or a tenant that a function computed.
    Stamp,
    /// An action sets it: a field of an auxiliary resource, which has no source.
    Action,
}

impl Origin {
    /// The source column whose present value is mirrored.
    pub const fn source(self) -> Option<&'static str> {
        match self {
            Self::Source(name) => Some(name),
            Self::Before(_) | Self::Destination | Self::Stamp | Self::Action => None,
        }
    }
}

/// Whether a type pair that loses information is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Fidelity {
    /// Only lossless pairs are admitted. The default.
    Lossless,
    /// `#[replicant(lossy)]`: the loss is meant.
    Lossy,
}

/// Is a value sealed before it is stored?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Protection {
    /// No. The default.
    Plain,
    /// `#[replicant(encrypted)]`: the destination column is bytea, by default called `encrypted_<field>`.
    Sealed,
}

/// Does the Rust type say that it holds a sealed value? It must agree with [`Protection`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Wrapping {
    /// `T` or `Option<T>`.
    Bare,
    /// `Sealed<T>` or `Option<Sealed<T>>`.
    Sealed,
}

/// Who may use a field or an action?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Visibility {
    /// Everyone. The default.
    Public,
    /// `private`: no action accepts the field; only the library runs the action.
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
    /// What the Rust type promises; for a sealed field, what is inside.
    pub storage: Storage,
    /// Whether NULL is possible.
    pub nullability: Nullability,
    /// Whether losing information is accepted.
    pub fidelity: Fidelity,
    /// Whether it is stored sealed.
    pub protection: Protection,
    /// Whether the Rust type is sealed.
    pub wrapping: Wrapping,
    /// Whether `accept = all` includes it.
    pub visibility: Visibility,
    /// `sql_type = "..."`, the destination type that migrations write.
    pub sql_type: Option<&'static str>,
}

impl ColumnSpec {
    /// A plain column that has one name everywhere and cannot be NULL.
    pub const fn new(name: &'static str, storage: Storage) -> Self {
        Self {
            field: name,
            origin: Origin::Source(name),
            target: name,
            storage,
            nullability: Nullability::NotNull,
            fidelity: Fidelity::Lossless,
            protection: Protection::Plain,
            wrapping: Wrapping::Bare,
            visibility: Visibility::Public,
            sql_type: None,
        }
    }
}
