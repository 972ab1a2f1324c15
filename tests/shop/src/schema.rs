//! What do the shop's database and its mirror look like?

use tokio_postgres::{Client, Error};

/// The publication that [`SOURCE`] creates.
pub const PUBLICATION: &str = "shop";
/// The replication slot of the shop's sink.
pub const SLOT: &str = "shop_mirror";
/// The application's tables and the publication.
pub const SOURCE: &str = include_str!("../sql/source.sql");
/// The mirror's tables.
pub const DESTINATION: &str = include_str!("../sql/destination.sql");
/// The tables of the history and the log, beside the mirror's.
pub const KEPT: &str = include_str!("../sql/kept.sql");
/// The publication that [`ACCOUNTS_SOURCE`] creates.
pub const ACCOUNTS_PUBLICATION: &str = "accounts";
/// The variable with the keys of sealed accounts.
pub const KEYS_VARIABLE: &str = "SHOP_KEYS";
/// The accounts of the application, beside its other tables.
pub const ACCOUNTS_SOURCE: &str = include_str!("../sql/accounts_source.sql");
/// The two mirrors of accounts, beside the other tables.
pub const ACCOUNTS_DESTINATION: &str = include_str!("../sql/accounts_destination.sql");

/// A mirrored table and its primary key.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name, in schema `public` on both sides.
    pub name: &'static str,
    /// The columns of its primary key, as SQL.
    pub key: &'static str,
}

/// Every mirrored table, parents first.
pub const TABLES: [Table; 4] = [
    Table {
        name: "customers",
        key: "id",
    },
    Table {
        name: "products",
        key: "id",
    },
    Table {
        name: "orders",
        key: "id",
    },
    Table {
        name: "order_lines",
        key: "order_id, line_no",
    },
];

/// Creates tables and publication in an empty database.
///
/// # Errors
/// When the server refuses.
///
/// # Cancel safety
/// Not cancel safe: use a fresh database after a cancellation.
pub async fn create_source(client: &Client) -> Result<(), Error> {
    client.batch_execute(SOURCE).await
}

/// Creates the mirror's tables in an empty database.
///
/// # Errors
/// When the server refuses.
///
/// # Cancel safety
/// Not cancel safe: use a fresh database after a cancellation.
pub async fn create_destination(client: &Client) -> Result<(), Error> {
    client.batch_execute(DESTINATION).await
}
