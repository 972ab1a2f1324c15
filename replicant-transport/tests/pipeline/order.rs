//! Transactions arrive whole, in commit order, with the same ordinals every time, and their text is pinned.

use crate::ledger::{Ledger, Manner};
use crate::runner::{Running, book, options, shop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_slot_streams_in_commit_order_with_gapless_ordinals() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    let origin = ledger.book().origins[0].clone();
    let replicant_transport::source::SlotProvenance::Created { empty_tables } = origin.provenance
    else {
        panic!("the slot was there");
    };
    let empty: Vec<String> = empty_tables.iter().map(ToString::to_string).collect();
    assert_eq!(empty, ["public.t"], "filled is not empty");
    server.sql("insert into t select i, 'v' || i from generate_series(1, 5) i");
    server.sql("begin; update t set v = 'w' where id = 1; delete from t where id = 2; insert into unpublished values ('x'); truncate filled; commit");
    let after = book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(after.entries[0].ordinals, [0, 1, 2, 3, 4]);
    assert_eq!(
        after.entries[1].changes,
        [
            "update public.t  -> (1, w)",
            "delete public.t (2, null)",
            "truncate 1"
        ]
    );
    assert!(after.entries[0].commit < after.entries[1].commit);
    running.stop().await;
    assert_eq!(ledger.book().drained, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interleaved_transactions_come_in_commit_order() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    let script = "create extension if not exists dblink; select dblink_connect('a', 'host=127.0.0.1 user=postgres dbname=postgres port=' || current_setting('port')); \
        select dblink_exec('a', 'begin'); select dblink_exec('a', $$insert into t values (1, 'long')$$);";
    server.sql(&format!("{script} begin; insert into t values (2, 'short'); commit; select dblink_exec('a', 'commit')"));
    let after = book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(
        after.changes(),
        ["insert public.t (2, short)", "insert public.t (1, long)"]
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_the_role_do_not_change_the_text() {
    let server = shop("");
    server.sql(
        "alter role postgres set datestyle = 'SQL, DMY'; alter role postgres set intervalstyle = 'iso_8601'; \
         alter role postgres set timezone = 'Asia/Kolkata'; alter role postgres set extra_float_digits = 0; \
         alter role postgres set bytea_output = 'escape'; \
         alter role postgres set search_path = 'nowhere'; alter role postgres set statement_timeout = '1ms'; \
         alter role postgres set default_transaction_read_only = on",
    );
    let ledger = Ledger::new(Manner::default());
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    let script = "set statement_timeout = 0; set default_transaction_read_only = off; set search_path = public; begin; \
        create table v(id int primary key, d date, z timestamptz, i interval, f float4, b bytea); \
        alter publication p add table v; commit; \
        insert into v values (1, '2024-01-02', '2024-01-02 06:34+00', '1 year 2 mons -3 days', 1.1, '\\x00ff')";
    server.sql(script);
    let after = book(&ledger, |book| !book.entries.is_empty()).await;
    assert_eq!(
        after.changes(),
        [
            "insert public.v (1, 2024-01-02, 2024-01-02 06:34:00+00, 1 year 2 mons -3 days, 1.1, \\x00ff)"
        ]
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_huge_transaction_arrives_in_bounded_pieces() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut options = options(&server).await;
    options.limits.max_inflight = 1024 * 1024;
    let running = Running::start(options, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    server.sql("insert into t select i, repeat('x', 500) from generate_series(1, 100000) i");
    let after = book(&ledger, |book| book.entries.len() == 1).await;
    let ordinals = &after.entries[0].ordinals;
    assert_eq!(ordinals.len(), 100_000);
    assert!(
        ordinals
            .iter()
            .zip(0..)
            .all(|(ordinal, expected)| *ordinal == expected)
    );
    assert!(
        after.batches >= 50_000_000 / (300 * 1024),
        "{} batches",
        after.batches
    );
    assert!(
        after.largest_batch < 300 * 1024,
        "{} bytes",
        after.largest_batch
    );
    running.stop().await;
}
