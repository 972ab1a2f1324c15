//! How does a test declare sealed columns, and how does it see what is inside? By the prefix of a destination column's
//! name, and by opening every stored value with the keys.

use replicant_checkpoint::contract::resource::{
    ColumnSpec, Origin, Protection, ResourceSpec, TableName, Wrapping,
};
use replicant_sink::seal::{Keyring, Place};

use crate::World;

const PREFIX: &str = "encrypted_";
const BEFORE: &str = "before_";

/// Declares every destination column `encrypted_x` as the sealed form of the source's `x`, and `encrypted_before_x` as
/// that of what `x` was before.
pub fn seal(resource: &mut ResourceSpec) {
    let column = |column: &ColumnSpec| {
        let Some(field) = column.target.strip_prefix(PREFIX) else {
            return *column;
        };
        ColumnSpec {
            field,
            origin: match field.strip_prefix(BEFORE) {
                Some(source) => Origin::Before(source),
                None => Origin::Source(field),
            },
            protection: Protection::Sealed,
            wrapping: Wrapping::Sealed,
            ..*column
        }
    };
    resource.columns = Vec::leak(resource.columns.iter().map(column).collect());
}

/// The key written as key files have it: its name, and one byte repeated.
pub fn key(name: &str, byte: u8) -> String {
    format!("{name}={}", format!("{byte:02x}").repeat(32))
}

/// Keys of these names and bytes.
///
/// # Panics
/// When they are no keys.
pub fn keys(list: &[(&str, u8)]) -> Keyring {
    let text: Vec<String> = list.iter().map(|(name, byte)| key(name, *byte)).collect();
    Keyring::parse(&text.join("\n")).unwrap()
}

/// The keys of a vault to which a key was added this many times. The mirrors that are processes have these.
///
/// # Panics
/// Never: they are keys.
pub fn rotated(times: u8) -> Keyring {
    let lines: Vec<String> = (0..=times).map(|n| key(&format!("k{n}"), n + 1)).collect();
    Keyring::parse(&lines.join("\n")).unwrap()
}

/// The place of a destination column of a table that has one name on both sides, in `public`.
pub fn place(table: &'static str, column: &str) -> Place {
    let name = TableName {
        schema: "public",
        table,
    };
    Place::new(name, name, column)
}

/// Every value of a sealed column, opened, in the order of these columns.
///
/// # Panics
/// When one does not open.
pub async fn opened(
    world: &World,
    keys: &Keyring,
    (table, column): (&'static str, &str),
    order: &str,
) -> Vec<Option<String>> {
    let stored = format!("select {column} from {table} order by {order}");
    let rows = world.destination.query(&stored, &[]).await.unwrap();
    let place = place(table, column);
    let open = |envelope: Option<Vec<u8>>| {
        let opened = keys.open(&envelope?, &place, None);
        let opened = opened.expect("a stored value opens where it is");
        let text = String::from_utf8(opened.expose().to_vec());
        Some(text.unwrap_or_else(|_| panic!("what {column} holds is no text")))
    };
    rows.iter().map(|row| open(row.get(0))).collect()
}

/// The same of the source: the text of every value.
///
/// # Panics
/// When the source refuses.
pub async fn in_the_clear(
    world: &World,
    (table, column): (&str, &str),
    order: &str,
) -> Vec<Option<String>> {
    let query = format!("select {column}::text from {table} order by {order}");
    let rows = world.source.query(&query, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}
