//! How fast each way of writing is. Run with
//! `cargo test --release -p replicant-sink --lib apply::tests::measure -- --ignored --nocapture`.

use std::time::Instant;

use replicant_transport::change::Change;

use super::Mirror;
use crate::fixture::{N, V, delete, in_binary, insert, say, t, update};
use crate::generation::{CopyBinary, Travel};
use crate::plan::Completeness;

const ROWS: u32 = 200_000;
const GROUP: usize = 20_000;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    CopyText,
    CopyBinary,
    UnnestBinary,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement, not a check"]
async fn rows_per_second() {
    let ways = [Way::CopyBinary, Way::UnnestBinary, Way::CopyText];
    for (n, way) in ways.into_iter().cycle().take(6).enumerate() {
        let schema = format!("measure{n}");
        let ddl = format!(
            "create schema {schema}; create table {schema}.t (id int8 primary key, u uuid, s text, i int4, \
             n numeric, b bool, ts timestamptz, j text)"
        );
        let name = format!("{schema}.t");
        let mut mirror = Mirror::with(
            &ddl,
            &[(&name, &["id"])],
            Completeness::Complete,
            |tables| {
                if matches!(way, Way::CopyBinary | Way::UnnestBinary) {
                    let table = tables.pop().unwrap();
                    tables.push(in_binary(table));
                }
                if matches!(way, Way::UnnestBinary) {
                    // A column that needs a cast keeps COPY out.
                    for column in &mut tables[0].columns {
                        match &mut column.travel {
                            Travel::Binary { copy, .. } => *copy = CopyBinary::NeedsCast,
                            Travel::Text { .. } => {}
                        }
                    }
                }
            },
        )
        .await;
        let label = match way {
            Way::CopyText => "text, copy",
            Way::CopyBinary => "binary, copy",
            Way::UnnestBinary => "binary, unnest",
        };
        let binary = matches!(way, Way::CopyBinary | Way::UnnestBinary);
        let r = mirror.relation();
        let row = |id: u32, s: &str| -> Vec<V> {
            if binary {
                binary_row(id, s)
            } else {
                text_row(id, s)
            }
        };
        let mut run = Vec::new();
        let inserts: Vec<Change> = (0..ROWS)
            .map(|id| insert(&r, &row(id, "some text of a row")))
            .collect();
        run.push(("insert", timed(&mut mirror, inserts, GROUP).await));
        mirror
            .client
            .batch_execute(&format!("analyze {name}"))
            .await
            .unwrap();
        let updates: Vec<Change> = (0..ROWS)
            .map(|id| update(&r, &row(id, "another text")))
            .collect();
        run.push(("update", timed(&mut mirror, updates, GROUP).await));
        let mut old = vec![N; 8];
        let deletes: Vec<Change> = (0..ROWS)
            .map(|id| {
                old[0] = row(id, "")[0].clone();
                delete(&r, &old)
            })
            .collect();
        run.push(("delete", timed(&mut mirror, deletes, GROUP).await));
        for group in [256, 512, 1024, 4096] {
            mirror
                .client
                .batch_execute(&format!("truncate {name}"))
                .await
                .unwrap();
            let inserts = (0..20_480).map(|id| insert(&r, &row(id, "some text of a row")));
            let seconds = timed(&mut mirror, inserts.collect(), group).await;
            say(&format!(
                "{label}: insert by {group}: {:.0} rows/s",
                20_480.0 / seconds
            ));
        }
        for (what, seconds) in run {
            say(&format!(
                "{label}: {what} {:.0} rows/s",
                f64::from(ROWS) / seconds
            ));
        }
    }
}

/// One transaction, groups of the size that delivery makes.
async fn timed(mirror: &mut Mirror, mut changes: Vec<Change>, group: usize) -> f64 {
    let mut groups = Vec::new();
    while !changes.is_empty() {
        let rest = changes.split_off(group.min(changes.len()));
        groups.push(crate::fixture::piece(std::mem::replace(&mut changes, rest)));
    }
    let start = Instant::now();
    mirror.client.batch_execute("begin").await.unwrap();
    mirror.applier.open(&mirror.client).await.unwrap();
    for group in &groups {
        mirror.applier.apply(&mirror.client, group).await.unwrap();
    }
    mirror.client.batch_execute("commit").await.unwrap();
    start.elapsed().as_secs_f64()
}

fn text_row(id: u32, s: &str) -> Vec<V> {
    vec![
        t(id),
        t(format!("a0eebc99-9c0b-4ef8-bb6d-{id:012x}")),
        t(s),
        t(id % 1000),
        t(format!("{id}.25")),
        t(if id.is_multiple_of(2) { "t" } else { "f" }),
        t("2024-02-29 12:00:00.000001+00"),
        t("{\"a\": 1, \"b\": \"some more\"}"),
    ]
}

fn binary_row(id: u32, s: &str) -> Vec<V> {
    let b = |bytes: &[u8]| V::Binary(bytes.to_vec());
    let mut uuid = [7u8; 16];
    uuid[12..].copy_from_slice(&id.to_be_bytes());
    // Two digits before the point, one after: 12.2500 in base 10000.
    let numeric = [0u8, 2, 0, 0, 0, 0, 0, 2, 0, 12, 0x09, 0xC4];
    vec![
        b(&i64::from(id).to_be_bytes()),
        b(&uuid),
        b(s.as_bytes()),
        b(&(id % 1000).to_be_bytes()),
        b(&numeric),
        b(&[u8::from(id.is_multiple_of(2))]),
        b(&762_523_200_000_001i64.to_be_bytes()),
        b(b"{\"a\": 1, \"b\": \"some more\"}"),
    ]
}

/// The future must be able to run on another thread.
#[test]
fn applying_can_be_spawned() {
    fn spawnable<T: Send>(_: T) {}
    async fn run(mut mirror: Mirror) {
        let _ = mirror.try_apply(Vec::new()).await;
    }
    let _ = |mirror: Mirror| spawnable(run(mirror));
}
