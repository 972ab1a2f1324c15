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
    ) || matches!((parts(from), parts(to)), (Some(from), Some(to)) if from.fits(&to))
}

/// A type whose modifier limits it.
#[derive(PartialEq, Eq)]
enum Limited {
    Characters(u32),
    Digits { whole: u32, fraction: u32 },
    Text,
    Numeric,
}

impl Limited {
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Characters(from), Self::Characters(to)) => from <= to,
            (
                Self::Digits { whole, fraction },
                Self::Digits {
                    whole: to_whole,
                    fraction: to_fraction,
                },
            ) => whole <= to_whole && fraction <= to_fraction,
            (Self::Characters(_) | Self::Text, Self::Text)
            | (Self::Digits { .. } | Self::Numeric, Self::Numeric) => true,
            _ => false,
        }
    }
}

fn parts(ty: &str) -> Option<Limited> {
    let (name, limits) = match ty.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')')?)),
        None => (ty, None),
    };
    let number = |text: &str| text.trim().parse::<u32>().ok();
    match (name.trim_end(), limits) {
        ("text" | "varchar" | "character varying", None) => Some(Limited::Text),
        ("varchar" | "character varying", Some(length)) => {
            Some(Limited::Characters(number(length)?))
        }
        ("numeric", None) => Some(Limited::Numeric),
        ("numeric", Some(digits)) => {
            let (precision, scale) = digits.split_once(',').unwrap_or((digits, "0"));
            let fraction = number(scale)?;
            let whole = number(precision)?.checked_sub(fraction)?;
            Some(Limited::Digits { whole, fraction })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_every_value_is_wider() {
        for (from, to, wider) in [
            ("smallint", "bigint", true),
            ("bigint", "integer", false),
            ("varchar(3)", "varchar(5)", true),
            ("varchar(5)", "varchar(3)", false),
            ("varchar(5)", "text", true),
            ("text", "varchar", true),
            ("text", "varchar(5)", false),
            ("numeric(4,2)", "numeric(6, 3)", true),
            ("numeric(4,2)", "numeric(4,3)", false),
            ("numeric(4,2)", "numeric", true),
            ("numeric(5)", "numeric(5,0)", true),
            ("numeric", "numeric(9,9)", false),
            ("text", "jsonb", false),
            ("uuid", "text", false),
        ] {
            assert_eq!(widens(from, to), wider, "{from} to {to}");
        }
    }
}
