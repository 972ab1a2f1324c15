//! Does a log hold one event for every change, in its place, and never change one?

use replicant_checkpoint::contract::resource::OnTruncate;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::journal::{Entry, Journal, noted};
use replicant_tests::kept::{AXES, STAMPS};
use replicant_tests::world::DEADLINE;

/// A row whose `big` is stored out of line, so that an update that leaves it alone does not send it.
const SOURCE: &str = "create table t (id int primary key, v text, big text); \
    alter table t alter big set storage external; alter table t replica identity full; \
    create table u (a text); alter table u replica identity full";

const COLUMNS: &[&str] = &["id", "v", "big"];
const TABLES: &[&str] = &["t: log", "u: log"];
const NOTED: &[(&str, &[&str])] = &[("t", COLUMNS), ("u", &["a"])];

fn destination() -> String {
    format!(
        "create table t (id int, v text, big text, before_v text, {STAMPS}); \
         create unique index on t ({AXES}); \
         create table u (a text, {STAMPS}); create unique index on u ({AXES})"
    )
}

/// One event as a log stores it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Event {
    commit_lsn: i64,
    ordinal: i64,
    table: String,
    operation: String,
    row: Option<Vec<Option<String>>>,
}

async fn stored(world: &World) -> Vec<Event> {
    let mut events = Vec::new();
    for (table, columns) in NOTED {
        let row = noted(columns);
        let query = format!(
            "select commit_lsn, ordinal, operation, {row} from {table} t \
             where source_system_id = $1 and source_database = $2 and slot_name = $3 and origin = 'stream' \
             and snapshot_attempt is null and commit_timestamp is not null and xid > 0"
        );
        let identity = world.cluster.source_identity(&world.source_database).await;
        let identity = identity.unwrap();
        let (system, database) = identity.split_once('/').unwrap();
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&system, &database, &world.slot];
        for found in world.destination.query(&query, &parameters).await.unwrap() {
            let operation: String = found.get(2);
            let row: Vec<Option<String>> = found.get(3);
            let payload = operation != "truncate";
            assert!(payload || row.iter().all(Option::is_none));
            events.push(Event {
                commit_lsn: found.get(0),
                ordinal: found.get(1),
                table: (*table).to_owned(),
                operation,
                row: payload.then_some(row),
            });
        }
        let query = format!("select count(*) from {table}");
        let all: i64 = world
            .destination
            .query_one(&query, &[])
            .await
            .unwrap()
            .get(0);
        let of_table = events.iter().filter(|event| event.table == *table).count();
        assert_eq!(
            usize::try_from(all).unwrap(),
            of_table,
            "every event is stamped"
        );
    }
    events.sort();
    events
}

/// What the journal expects. Ordinals count the published changes of both tables, and those of the journal between.
fn expected(journal: &Journal) -> Vec<(i64, Vec<Entry>)> {
    let transactions = journal.transactions.iter();
    transactions
        .map(|transaction| (transaction.commit_lsn, transaction.entries.clone()))
        .collect()
}

/// Every change has one event; inside a transaction they stand in order, and each ordinal is taken once.
async fn equal(world: &World, journal: &mut Journal) {
    world.caught_up().await;
    journal.read(&world.source).await;
    let mut events = stored(world).await.into_iter().peekable();
    for (commit_lsn, entries) in expected(journal) {
        let mut found = Vec::new();
        let mut last = -1;
        while let Some(event) = events.next_if(|event| event.commit_lsn == commit_lsn) {
            assert!(event.ordinal > last, "an ordinal was taken twice");
            last = event.ordinal;
            found.push(event);
        }
        // A cascading truncate is one change of several tables, noted in the order of its triggers.
        let truncates =
            |table: &str, operation: &str| (operation == "truncate").then(|| table.to_owned());
        let mut expected: Vec<_> = entries
            .into_iter()
            .map(|entry| {
                let row = entry.new.or(entry.old);
                (entry.table, entry.operation, row)
            })
            .collect();
        let mut found: Vec<_> = found
            .into_iter()
            .map(|event| (event.table, event.operation, event.row))
            .collect();
        if expected
            .iter()
            .any(|(table, operation, _)| truncates(table, operation).is_some())
        {
            expected.sort();
            found.sort();
        }
        assert_eq!(found, expected);
    }
    assert_eq!(events.next(), None, "an event without a change");
}

async fn holds(transactions: &[&str]) -> World {
    let live = World::new(SOURCE, &destination()).await;
    let mut journal = Journal::open(&live, NOTED).await;
    let spec = live.specification(TABLES).await.build();
    let handle = live.start(spec).await;
    for transaction in transactions {
        live.run(transaction).await;
        live.caught_up().await;
    }
    equal(&live, &mut journal).await;
    handle.stop().await.unwrap();

    let world = World::new(SOURCE, &destination()).await;
    let mut journal = Journal::open(&world, NOTED).await;
    let spec = world.specification(TABLES).await.build();
    world.start(spec).await.stop().await.unwrap();
    for transaction in transactions {
        world.run(transaction).await;
    }
    let handle: Handle = world.start(spec).await;
    equal(&world, &mut journal).await;
    handle.stop().await.unwrap();
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_an_event() {
    holds(&[
        "insert into t values (1, 'a', repeat('x', 5000)), (2, 'b', null)",
        "update t set v = 'c' where id = 1; insert into u values ('x'), ('x'), (null)",
        "begin; update t set v = 'd'; update t set v = v; update u set a = 'y' where a = 'x'; commit",
        "begin; insert into t values (3, 'gone', null); delete from t where id = 3; commit",
        "update t set id = id + 10",
        "begin; delete from t where id = 11; truncate u; insert into u values ('z'); commit",
        "truncate t, u",
    ])
    .await;
}

/// Enough events to be copied in.
#[tokio::test(flavor = "multi_thread")]
async fn many_events_are_copied() {
    holds(&[
        "insert into t select n, 'first', repeat('x', 3000) from generate_series(1, 6000) n",
        "begin; update t set v = 'second'; update t set v = 'third' where id % 2 = 0; \
         delete from t where id % 3 = 0; insert into u select n from generate_series(1, 2000) n; commit",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_tells_what_it_left_alone_and_what_was_there() {
    let world = holds(&[
        "insert into t values (1, 'a', repeat('x', 5000))",
        "update t set v = 'b'",
        "update t set big = 'short'",
        "delete from t",
    ])
    .await;
    let query = "select string_agg(concat_ws(' ', operation, v, coalesce(before_v, '-'), \
                 unchanged_columns::text, length(big)::text), ', ' order by commit_lsn) from t";
    let told = world.destination_text(query).await;
    assert_eq!(
        told,
        "insert a - {} 5000, update b a {big} 5000, update b b {} 5, delete b b {} 5"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncate_nobody_decided_about_halts() {
    let world = World::new(SOURCE, &destination()).await;
    let specification = world.specification(TABLES).await;
    let spec = specification
        .with("t", |t| t.on_truncate = OnTruncate::Halt)
        .build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a', null)").await;
    world.run("truncate t").await;
    let stopped = tokio::time::timeout(DEADLINE, handle.join()).await.unwrap();
    assert_eq!(stopped.unwrap_err().code(), "truncate_halt");
    assert_eq!(stored(&world).await.len(), 1);
}
