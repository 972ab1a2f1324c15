//! Does the traffic run, repeat from its seed, and does the comparison see what differs?
#![allow(
    clippy::expect_used,
    reason = "the setup of a test says what it expects"
)]

use replicant_shop::traffic::{Done, Traffic};
use replicant_shop::{schema, verify};
use replicant_test_servers::{Cluster, wait_for_true};
use tokio_postgres::Client;

async fn shop(cluster: &Cluster, name: &str) -> Client {
    cluster.create_database(name).await.expect("a database");
    let client = cluster.connect(name).await.expect("a session");
    schema::create_source(&client).await.expect("the shop");
    client
}

async fn work(client: &Client, seed: u64, count: u32) -> Done {
    let mut traffic = Traffic::new(seed, 1);
    let mut sum = traffic.open(client).await.expect("opened");
    for _ in 0..count {
        let done = traffic.transaction(client).await.expect("a transaction");
        sum.transactions += done.transactions;
        sum.changes += done.changes;
    }
    sum
}

#[tokio::test]
async fn the_same_seed_makes_the_same_transactions_and_every_kind_of_them_succeeds() {
    let cluster = Cluster::start_default().expect("a server");
    let (one, two) = (shop(&cluster, "one").await, shop(&cluster, "two").await);
    let first = work(&one, 7, 1500).await;
    let second = work(&two, 7, 1500).await;
    assert_eq!(first, second);
    assert!(first.changes > 3 * first.transactions, "{first:?}");
    assert!(
        first.transactions < 1501,
        "some were rolled back: {first:?}"
    );
    for table in schema::TABLES {
        let rows = format!("select count(*) > 30 from {}", table.name);
        let many: bool = one.query_one(&rows, &[]).await.expect("a count").get(0);
        assert!(many, "{}", table.name);
    }
}

#[tokio::test]
async fn the_comparison_finds_missing_extra_and_different_rows() {
    let cluster = Cluster::start_default().expect("a server");
    let source = shop(&cluster, "source").await;
    cluster.create_database("mirror").await.expect("a database");
    let mirror = cluster.connect("mirror").await.expect("a session");
    schema::create_destination(&mirror).await.expect("a mirror");
    let product = "insert into products values \
        (1, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a', 1, 1.10, true, 'epoch', null)";
    source.batch_execute(product).await.expect("a row");
    let verdict = verify::compare(&source, &mirror).await.expect("compared");
    assert_eq!((verdict.missing, verdict.is_clean()), (1, false));

    mirror.batch_execute(product).await.expect("a row");
    let verdict = verify::compare(&source, &mirror).await.expect("compared");
    assert!(verdict.is_clean(), "{verdict:?}");
    assert_eq!((verdict.rows_source, verdict.rows_mirror), (1, 1));

    mirror
        .batch_execute("update products set attributes = 'null'")
        .await
        .expect("JSON null instead of NULL");
    source
        .batch_execute("delete from customers")
        .await
        .expect("nothing");
    mirror
        .batch_execute(
            "insert into customers values \
             ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a', 'b', 1, '{}', 'epoch', null)",
        )
        .await
        .expect("an extra row");
    let verdict = verify::compare(&source, &mirror).await.expect("compared");
    assert_eq!(
        (verdict.missing, verdict.duplicated, verdict.different),
        (0, 1, 1),
        "{verdict:?}"
    );
}

/// PostgreSQL's own replication is a mirror known to be right, so it judges traffic and comparison.
#[tokio::test]
async fn a_native_subscription_of_the_traffic_compares_clean() {
    let (here, there) = (
        Cluster::start_default().expect("a server"),
        Cluster::start_default().expect("a server"),
    );
    let source = shop(&here, "shop").await;
    source
        .batch_execute(
            "create publication native for table customers, products, orders, order_lines",
        )
        .await
        .expect("a publication without the ignored table");
    there.create_database("mirror").await.expect("a database");
    let mirror = there.connect("mirror").await.expect("a session");
    schema::create_destination(&mirror).await.expect("a mirror");
    mirror
        .batch_execute(&format!(
            "create subscription native connection '{}' publication native with (copy_data = false)",
            here.conninfo("shop")
        ))
        .await
        .expect("a subscription");
    work(&source, 11, 600).await;
    source
        .batch_execute(
            "insert into products values \
             (-1, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'end', 0, 0, true, 'epoch', null)",
        )
        .await
        .expect("a last row");
    wait_for_true(
        &mirror,
        "select exists (select from products where id = -1)",
        std::time::Duration::from_secs(60),
    )
    .await
    .expect("everything arrived");
    let verdict = verify::compare(&source, &mirror).await.expect("compared");
    assert!(
        verdict.is_clean() && verdict.rows_source > 500,
        "{verdict:?}"
    );
}
