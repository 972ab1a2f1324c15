//! Do the files for the schemas of tenants make what a sink accepts, in the schema of the tenant that is meant and nowhere
//! else?

use std::path::Path;

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_cli::Exit;
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::connect::connect;
use replicant_tests::World;
use replicant_tests::kept::WINDOW;
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::server::{apply, relations, typed};
use crate::{files, migrate, ways};

const SOURCE: &str = "create table t (org text not null, id int primary key, v varchar(20) not null); \
    create table h (org text not null, id int primary key, v text); create table country (id int primary key, name text); \
    alter table t replica identity full; alter table h replica identity full";

/// Declared from the destination's catalog, and dropped before anything is written.
fn declared_from() -> String {
    format!(
        "create table t (org text not null, id int primary key, v varchar(20) not null); \
         create table h (org text not null, id int not null, v text, {WINDOW}); \
         create table country (id int primary key, name text)"
    )
}

async fn declared(world: &World, tables: &[&str]) -> &'static SinkSpec {
    let mut spec = world.specification(tables).await;
    for resource in &mut spec.resources {
        typed(world, resource).await;
    }
    spec.build()
}

fn written(place: &Path, spec: &'static SinkSpec, options: &[&str]) {
    let pipeline = || vec![Pipeline::of_spec(spec)];
    assert_eq!(migrate(place, pipeline(), options), Exit::Clean);
    // A second run writes nothing.
    let each = place.join("tenant_each");
    let held = (files(place), each.exists().then(|| files(&each)));
    assert_eq!(migrate(place, pipeline(), options), Exit::Clean);
    assert_eq!((files(place), each.exists().then(|| files(&each))), held);
}

/// A session as sqlx has one with `?options=-csearch_path=...`, and what it keeps in the schema for itself.
async fn of_tenant(world: &World, schema: &str) -> Client {
    let create = format!("create schema if not exists \"{schema}\"");
    world.destination.batch_execute(&create).await.unwrap();
    // A space ends an option for the server, and a backslash escapes for the connection string too.
    let path = schema.replace(' ', "\\\\ ");
    let conninfo = &world.destination_conninfo;
    let conninfo = format!("{conninfo} options='-csearch_path=\"{path}\"'");
    let client = connect(&conninfo).await.unwrap();
    let kept = "create table if not exists _sqlx_migrations (version bigint primary key)";
    client.batch_execute(kept).await.unwrap();
    client
}

async fn apply_to(client: &Client, migration: &str) {
    let transaction = format!("begin; {migration} commit");
    let applied = client.batch_execute(&transaction).await;
    applied.unwrap_or_else(|error| panic!("{migration}\n{error:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_each_tenant_are_made_by_its_own_run_and_accepted() {
    let world = World::new(SOURCE, &declared_from()).await;
    let tables = [
        "t by org in tenant_{}",
        "h by org in tenant_{}: history(id)",
        "country",
    ];
    let spec = declared(&world, &tables).await;
    let drop = "drop table t, h, country";
    world.destination.batch_execute(drop).await.unwrap();
    let clean = relations(&world).await;
    let place = TempDir::new().unwrap();
    written(place.path(), spec, &["--tables"]);
    let each = &place.path().join("tenant_each");
    let (up, down) = (ways(each, ".up.sql"), ways(each, ".down.sql"));

    apply(&world, &ways(place.path(), ".up.sql")[0]).await;
    let tenants = ["a", "B c"];
    for tenant in tenants {
        let client = of_tenant(&world, &format!("tenant_{tenant}")).await;
        apply_to(&client, &up[0]).await;
    }
    let handle = world.start(spec).await;
    world
        .run("insert into country values (1, 'x'); insert into t values ('a', 1, 'x'), ('B c', 2, 'y'); \
              insert into h values ('a', 1, 'x'), ('B c', 2, 'y'); update h set v = 'z'; update t set v = 'z'")
        .await;
    world.caught_up().await;
    // A tenant that comes later runs the same files.
    apply_to(&of_tenant(&world, "tenant_late").await, &up[0]).await;
    world.run("insert into t values ('late', 3, 'x')").await;
    world.caught_up().await;
    for (schema, expected) in [
        ("tenant_a", "1z 1"),
        ("tenant_B c", "2z 1"),
        ("tenant_late", "3x 0"),
    ] {
        let rows = format!(
            "select (select string_agg(id || v, ',') from \"{schema}\".t) || ' ' || (select count(*) from \"{schema}\".h)"
        );
        assert_eq!(world.destination_text(&rows).await, expected, "{schema}");
    }
    handle.stop().await.unwrap();

    for tenant in ["a", "B c", "late"] {
        let schema = format!("tenant_{tenant}");
        let client = of_tenant(&world, &schema).await;
        apply_to(&client, &down[0]).await;
        let drop = format!("drop table _sqlx_migrations; drop schema \"{schema}\"");
        client.batch_execute(&drop).await.unwrap();
    }
    apply(&world, &ways(place.path(), ".down.sql")[0]).await;
    assert_eq!(relations(&world).await, clean);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_does_not_say_one_tenant_changes_nothing() {
    let world = World::new(SOURCE, &declared_from()).await;
    let spec = declared(&world, &["t by org in tenant_{}"]).await;
    let place = TempDir::new().unwrap();
    written(place.path(), spec, &["--tables"]);
    let each = &place.path().join("tenant_each");
    let made = "drop table t, h, country; create schema tenant_a; create schema tenant_; create schema other";
    world.destination.batch_execute(made).await.unwrap();
    let clean = relations(&world).await;
    for path in [
        "public",
        "''",
        "other",
        "tenant_",
        "tenant_gone",
        "tenant_a, public",
        "public, tenant_a",
    ] {
        for file in [ways(each, ".up.sql"), ways(each, ".down.sql")].concat() {
            let run = format!("begin; set local search_path = {path}; {file} commit");
            let error = world.destination.batch_execute(&run).await.expect_err(path);
            let message = error.as_db_error().unwrap().message().to_owned();
            world.destination.batch_execute("rollback").await.unwrap();
            assert!(
                message.starts_with("search_path has to be"),
                "{path}: {message}"
            );
            assert!(message.contains("tenant_{}"), "{path}: {message}");
            assert_eq!(relations(&world).await, clean, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_moves_to_the_schemas_of_tenants_and_back_is_made_where_it_is_declared() {
    let world = World::new(SOURCE, &declared_from()).await;
    let together = declared(&world, &["t by org"]).await;
    let apart = declared(&world, &["t by org in tenant_{}"]).await;
    let more = "alter table t add column w text; alter table h add column w text";
    world.source.batch_execute(more).await.unwrap();
    world.destination.batch_execute(more).await.unwrap();
    let wider = declared(&world, &["t by org in tenant_{}"]).await;
    let drop = "drop table t, h, country";
    world.destination.batch_execute(drop).await.unwrap();
    let clean = relations(&world).await;

    let place = TempDir::new().unwrap();
    let each = &place.path().join("tenant_each");
    let counts = || {
        let each = each.exists().then(|| ways(each, ".up.sql").len());
        (ways(place.path(), ".up.sql").len(), each.unwrap_or(0))
    };
    let meant = ["--tables", "--allow-destructive"];
    written(place.path(), together, &["--tables"]);
    assert_eq!(counts(), (1, 0));
    written(place.path(), apart, &meant);
    assert_eq!(counts(), (2, 1));
    written(place.path(), wider, &meant);
    assert_eq!(counts(), (2, 2));
    written(place.path(), together, &meant);
    assert_eq!(counts(), (3, 3));

    let (up, down) = (
        ways(place.path(), ".up.sql"),
        ways(place.path(), ".down.sql"),
    );
    let (up_each, down_each) = (ways(each, ".up.sql"), ways(each, ".down.sql"));
    assert!(
        up[1].contains("its rows are not copied to them"),
        "{}",
        up[1]
    );
    assert!(
        up_each[2].contains("the rows of tenants are not copied there"),
        "{}",
        up_each[2]
    );
    let tenants = [
        of_tenant(&world, "tenant_a").await,
        of_tenant(&world, "tenant_b").await,
    ];
    let made = relations(&world).await;
    apply(&world, &up[0]).await;
    let first = relations(&world).await;
    apply(&world, &up[1]).await;
    for tenant in &tenants {
        apply_to(tenant, &up_each[0]).await;
        apply_to(tenant, &up_each[1]).await;
    }
    let columns = "select string_agg(format('%s.%s', table_schema, column_name), ' ' order by 1) \
        from information_schema.columns where table_name = 't' and column_name in ('v', 'w')";
    let columns = world.destination_text(columns).await;
    assert_eq!(columns, "tenant_a.v tenant_a.w tenant_b.v tenant_b.w");
    apply(&world, &up[2]).await;
    for tenant in &tenants {
        apply_to(tenant, &up_each[2]).await;
    }
    assert_eq!(relations(&world).await, first);
    // And all the way down again.
    for step in (0..3).rev() {
        apply(&world, &down[step]).await;
        for tenant in &tenants {
            apply_to(tenant, &down_each[step]).await;
        }
    }
    assert_eq!(relations(&world).await, made);
    assert_ne!(made, clean);
}
