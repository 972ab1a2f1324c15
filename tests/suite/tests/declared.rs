//! Do the declarations and tables that the guide shows hold what the source did? Word for word as printed: the structs
//! through the macros and [`Pipeline`], the tables from the page.
#![allow(missing_docs, reason = "an example documents what it is about")]
#![allow(dead_code, unreachable_pub, reason = "an example is read by people")]

#[path = "../../compile/tests/examples/append_log.rs"]
mod append_log;
#[path = "../../compile/tests/examples/halts.rs"]
mod halts;
#[path = "../../compile/tests/examples/hooks.rs"]
mod hooks;
#[path = "../../compile/tests/examples/order_versions.rs"]
mod order_versions;
#[path = "../../compile/tests/examples/sealing.rs"]
mod sealing;
#[path = "../../compile/tests/examples/tenant_schemas.rs"]
mod tenant_schemas;
#[path = "../../compile/tests/examples/tenants.rs"]
mod tenants;

// As in a program of its own, where the functions are at the root.
use tenant_schemas::regions;

use std::fs;
use std::path::Path;

use replicant_sink::prelude::*;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::sealing::{keys, place};
use replicant_tests::world::DEADLINE;

const SOURCE: &str = "create table orders (id uuid primary key, amount numeric(12, 2)); \
    alter table orders replica identity full; create publication shop for table orders";

/// One order from its first to its last moment, beside one that stays.
const TRANSACTIONS: [&str; 4] = [
    "insert into orders values ('00000000-0000-0000-0000-000000000001', 10), \
     ('00000000-0000-0000-0000-000000000002', null)",
    "update orders set amount = 12.50 where amount = 10",
    "delete from orders where amount = 12.50",
    "truncate orders",
];

/// The first SQL of a page of the guide: the tables it tells to make.
fn tables_of_the_guide(page: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/src/guide").join(page)).unwrap();
    let (_, rest) = page.split_once("```sql\n").unwrap();
    let (sql, _) = rest.split_once("```").unwrap();
    sql.to_owned()
}

async fn start<S: SinkDeclaration>(world: &World) -> Handle {
    let identity = world.cluster.source_identity(&world.source_database).await;
    let pipeline = Pipeline::of::<S>()
        .source(&world.source_conninfo)
        .destination(&world.destination_conninfo)
        .publication("shop")
        .source_identity(&identity.unwrap())
        .vault(StaticVault::new(keys(&[("k", 1)])))
        .go_forward();
    let mut handle = pipeline.start().await.unwrap();
    let ready = tokio::time::timeout(DEADLINE, handle.ready());
    ready.await.unwrap().unwrap();
    handle
}

/// What the destination holds when it is what is expected, else what it holds in the end.
async fn holds(world: &World, query: &str, expected: &[&str]) {
    let rows = async || -> Vec<String> {
        let rows = world.destination.query(query, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    };
    let reached = wait_for("the rows of the last transaction", DEADLINE, async || {
        (rows().await == expected).then_some(())
    });
    if reached.await.is_err() {
        assert_eq!(rows().await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_of_the_guide_has_every_version_with_its_window() {
    let world = World::new(SOURCE, &tables_of_the_guide("history.md")).await;
    let handle = start::<order_versions::VersionsSink>(&world).await;
    for transaction in TRANSACTIONS {
        world.run(transaction).await;
    }
    // A window as the numbers of the transactions that opened and closed it.
    holds(
        &world,
        "with commits as ( \
             select lsn, row_number() over (order by lsn) as number from ( \
                 select valid_from_lsn as lsn from order_versions \
                 union select valid_to_lsn from order_versions where valid_to_lsn is not null) seen) \
         select pg_catalog.format('%s: %s from %s to %s%s%s', right(order_id::text, 1), amount, opened.number, \
             closed.number, case when is_current then ', current' end, \
             case when valid_from is null or (valid_to is null) <> (valid_to_lsn is null) then ', untimed' end) \
         from order_versions join commits opened on opened.lsn = valid_from_lsn \
             left join commits closed on closed.lsn = valid_to_lsn \
         order by order_id, valid_from_lsn",
        &[
            "1: 10.00 from 1 to 2",
            "1: 12.50 from 2 to 3",
            "2:  from 1 to 4",
        ],
    )
    .await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_the_guide_has_an_event_for_every_change() {
    let world = World::new(SOURCE, &tables_of_the_guide("append-log.md")).await;
    let handle = start::<append_log::EventsSink>(&world).await;
    for transaction in TRANSACTIONS {
        world.run(transaction).await;
    }
    holds(
        &world,
        "select pg_catalog.format('%s %s %s: %s, before %s, unchanged %s', origin, operation, right(id::text, 1), \
             amount, amount_before, unchanged) \
         from order_events where slot_name = 'shop_events' and committed_at is not null and xid > 0 \
         order by commit_lsn, ordinal",
        &[
            "stream insert 1: 10.00, before , unchanged {}",
            "stream insert 2: , before , unchanged {}",
            "stream update 1: 12.50, before 10.00, unchanged {}",
            "stream delete 1: 12.50, before 12.50, unchanged {}",
            "stream truncate : , before , unchanged {}",
        ],
    )
    .await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hooks_of_the_guide_trim_refuse_and_write_a_receipt_for_each_change() {
    let source = "create table payments (id bigint primary key, amount bigint not null, note text); \
                  create publication shop for table payments";
    let world = World::new(source, &tables_of_the_guide("hooks.md")).await;
    let handle = start::<hooks::PaymentsSink>(&world).await;
    world
        .run("insert into payments values (1, 10, ' in '), (2, 20, null); update payments set amount = 11 where id = 1")
        .await;
    holds(
        &world,
        "select pg_catalog.format('%s: %s %s', id, amount, note) from payments order by id",
        &["1: 11 in", "2: 20 "],
    )
    .await;
    holds(
        &world,
        "select pg_catalog.format('%s: %s', payment_id, amount) from receipts order by id",
        &["1: 10", "2: 20", "1: 11"],
    )
    .await;
    world
        .run("insert into payments values (3, 1, null), (4, -1, null)")
        .await;
    let refused = tokio::time::timeout(DEADLINE, handle.join());
    let refused = refused.await.unwrap().unwrap_err();
    assert_eq!(refused.code(), "validation_refused", "{refused}");
    let receipts = "select count(*)::text from receipts";
    assert_eq!(world.destination_text(receipts).await, "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tenants_of_the_guide_have_their_own_rows_and_seals() {
    let world = World::new(
        "create table invoices (id bigint primary key, org_id text not null, amount numeric(12, 2) not null, \
         iban text not null); alter table invoices replica identity full; create publication shop for table invoices",
        &tables_of_the_guide("tenancy.md"),
    )
    .await;
    let handle = start::<tenants::BillingSink>(&world).await;
    for transaction in [
        "insert into invoices values (1, 'acme', 10, 'DE1'), (2, 'globex', 20, 'DE2'), (3, 'acme', 30, 'DE3')",
        "update invoices set amount = 11 where id = 1; update invoices set org_id = 'globex' where id = 3",
        "delete from invoices where org_id = 'globex' and id = 2",
    ] {
        world.run(transaction).await;
    }
    let rows = "select concat_ws(' ', id, org_id, amount) from invoices order by id";
    holds(&world, rows, &["1 acme 11.00", "3 globex 30.00"]).await;
    let query = "select org_id, encrypted_iban from invoices order by id";
    let place = place("invoices", "encrypted_iban");
    for (row, iban) in world
        .destination
        .query(query, &[])
        .await
        .unwrap()
        .iter()
        .zip(["DE1", "DE3"])
    {
        let (tenant, stored): (String, Vec<u8>) = (row.get(0), row.get(1));
        let keys = keys(&[("k", 1)]);
        let opened = Sealed::<String>::open(&keys, &place, Some(&tenant), &stored).unwrap();
        assert_eq!(opened.expose(), iban);
    }
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schemas_of_the_guide_have_the_rows_of_their_tenant() {
    let tables = ["eu_acme", "eu_globex"].map(|tenant| {
        format!(
            "create schema tenant_{tenant}; \
             create table tenant_{tenant}.payments (id bigint primary key, amount numeric(12, 2) not null);"
        )
    });
    let world = World::new(
        "create table payments (id bigint, org text not null, amount numeric(12, 2) not null, primary key (org, id)); \
         alter table payments replica identity full; create publication shop for table payments",
        &tables.concat(),
    )
    .await;
    let handle = start::<tenant_schemas::PaymentsSink>(&world).await;
    world
        .run("insert into payments values (1, 'acme', 10), (1, 'globex', 20), (2, 'acme', 30)")
        .await;
    world
        .run("update payments set org = 'globex' where id = 2; delete from payments where org = 'acme'")
        .await;
    let rows = "select 'acme ' || id || ' ' || amount from tenant_eu_acme.payments union all \
        select 'globex ' || id || ' ' || amount from tenant_eu_globex.payments order by 1";
    holds(&world, rows, &["globex 1 20.00", "globex 2 30.00"]).await;
    let row = RowView::new(&["org"], &[]);
    assert!(regions::of(&row, &["eu"]).is_err());
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sealed_card_of_the_guide_is_opened_as_the_guide_opens_it() {
    let world = World::new(
        "create table card (id bigint primary key, owner text not null, pan text); create publication shop for table card",
        &tables_of_the_guide("sealing.md"),
    )
    .await;
    let handle = start::<sealing::CardSink>(&world).await;
    world
        .run("insert into card values (1, 'a', '4111'), (2, 'b', null); update card set pan = '5222' where id = 1")
        .await;
    let rows = "select concat_ws(' ', id, owner, encrypted_pan is null) from card order by id";
    holds(&world, rows, &["1 a f", "2 b t"]).await;
    let stored = "select encrypted_pan from card where id = 1";
    let stored = world.destination.query_one(stored, &[]).await.unwrap();
    let vault = StaticVault::new(keys(&[("k", 1)]));
    let pan = sealing::pan(&vault, stored.get(0)).await.unwrap();
    assert_eq!(pan.expose(), "5222");
    handle.stop().await.unwrap();
    assert!(format!("{:?}", sealing::pipeline()).contains("cards"));
}

/// The program of the page about halts, from a change of the source to the repair.
#[tokio::test(flavor = "multi_thread")]
async fn a_halt_pages_as_the_guide_does_and_goes_on_after_the_repair() {
    let table = "create table t (id int primary key, v text)";
    let world = World::same(table).await;
    let pipeline = async || {
        let specification = world.specification(&["t"]).await;
        world.pipeline(specification.build()).await
    };
    // The first start makes the slot.
    let mut handle = pipeline().await.start().await.unwrap();
    handle.ready().await.unwrap();
    handle.stop().await.unwrap();
    world
        .run("insert into t values (1, 'a'); alter table t add c int; insert into t values (2, 'b', 3)")
        .await;
    let halted = tokio::time::timeout(DEADLINE, async { halts::mirror(&pipeline().await).await });
    let page = halted.await.unwrap().unwrap_err();
    assert_eq!(page.code, "source_column_unmapped");
    assert_eq!(page.table.as_deref(), Some("public.t"));
    assert!(
        !page.decision && page.line.contains("column c"),
        "{}",
        page.line
    );
    let repair = "alter table t add c int";
    world.destination.batch_execute(repair).await.unwrap();
    let mut handle = pipeline().await.start().await.unwrap();
    handle.ready().await.unwrap();
    let rows = "select concat_ws(' ', id, v, c) from t order by id";
    holds(&world, rows, &["1 a", "2 b 3"]).await;
    handle.stop().await.unwrap();
}
