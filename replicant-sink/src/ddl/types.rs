//! Which SQL type does a column get that nobody gave one?

use replicant_checkpoint::contract::resource::{Role, Storage};

/// The widest type of the family, which holds every value that the field's Rust type promises.
///
/// `None` for the two families that promise nothing about the type: a list, and `PgText`.
pub(super) const fn of_storage(storage: Storage) -> Option<&'static str> {
    Some(match storage {
        Storage::Bool => "boolean",
        Storage::Int2 => "smallint",
        Storage::Int4 => "integer",
        Storage::Int8 => "bigint",
        Storage::Float4 => "real",
        Storage::Float8 => "double precision",
        Storage::Text => "text",
        Storage::Bytes => "bytea",
        Storage::Numeric => "numeric",
        Storage::Uuid => "uuid",
        Storage::Date => "date",
        Storage::Time => "time",
        Storage::Timestamp => "timestamp",
        Storage::TimestampTz => "timestamptz",
        Storage::Json => "jsonb",
        Storage::Any | Storage::Array => return None,
    })
}

/// What the sink fills a column of this role with.
pub(crate) const fn of_role(role: Role) -> &'static str {
    match role {
        Role::ValidFromLsn | Role::ValidToLsn | Role::CommitLsn | Role::Ordinal | Role::Xid => {
            "bigint"
        }
        Role::ValidFrom | Role::ValidTo | Role::CommitTimestamp => "timestamptz",
        Role::Current => "boolean",
        Role::SourceSystem
        | Role::SourceDatabase
        | Role::Slot
        | Role::Operation
        | Role::Origin
        | Role::MessagePrefix => "text",
        Role::Attempt | Role::MessageContent | Role::Fingerprint | Role::SeenAttempt => "bytea",
        Role::Unchanged => "text[]",
    }
}

/// Does every value of the first type have one equal value in the second, without a cast that could fail?
pub(super) fn widens(from: &str, to: &str) -> bool {
    matches!(
        (from, to),
        ("smallint", "integer" | "bigint" | "numeric")
            | ("integer", "bigint" | "numeric")
            | ("bigint", "numeric")
            | ("real", "double precision")
    ) || (to == "text" && shortened_text(from))
        || (to == "numeric" && from.starts_with("numeric("))
}

fn shortened_text(ty: &str) -> bool {
    ty == "varchar" || ty.starts_with("varchar(")
}
