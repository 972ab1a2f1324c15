//! Is the mirror the source? Compared row by row as the servers' own text.

use tokio_postgres::{Client, SimpleQueryMessage};

use crate::World;

/// Every row of a table as text, sorted, NULL distinct from everything else.
///
/// # Panics
/// When the table cannot be read.
pub async fn rows(client: &Client, table: &str) -> Vec<Vec<Option<String>>> {
    // The simple protocol returns every value through its output function, as the stream does.
    let messages = client
        .simple_query(&format!("select * from {table}"))
        .await
        .unwrap();
    let mut rows: Vec<Vec<Option<String>>> = messages
        .into_iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(
                (0..row.len())
                    .map(|index| row.get(index).map(str::to_owned))
                    .collect(),
            ),
            _ => None,
        })
        .collect();
    rows.sort();
    rows
}

/// Waits until the mirror caught up, then compares these tables of both sides.
///
/// # Panics
/// When they differ.
pub async fn assert_equal(world: &World, tables: &[&str]) {
    world.caught_up().await;
    for table in tables {
        let expected = rows(&world.source, table).await;
        let found = rows(&world.destination, table).await;
        assert_eq!(found, expected, "{table} differs");
    }
}
