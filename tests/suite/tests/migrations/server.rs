//! Do the files run on a server, up and down, and is what they make accepted?

use replicant_checkpoint::contract::resource::{
    ColumnSpec, Nullability, OnTruncate, ResourceSpec, Storage,
};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_cli::Exit;
use replicant_sink::pipeline::Pipeline;
use replicant_tests::World;
use replicant_tests::hooked::{SHOP_SOURCE, Shop, start};
use replicant_tests::kept::{STAMPS, WINDOW};
use replicant_tests::specification::Specification;
use replicant_transport::ident::QualifiedName;
use tempfile::TempDir;

use crate::{first, migrate, then, ways};

pub(crate) async fn apply(world: &World, migration: &str) {
    // As sqlx does: one transaction for each file.
    let transaction = format!("begin; {migration} commit");
    let applied = world.destination.batch_execute(&transaction).await;
    applied.unwrap_or_else(|error| panic!("{migration}\n{error:?}"));
}

pub(crate) async fn relations(world: &World) -> String {
    let query = "select coalesce(string_agg(oid::regclass::text || ' ' || relkind::text, ', ' order by oid::regclass::text), '') \
         from pg_class where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'";
    world.destination_text(query).await
}

/// The shape of every column and unique index of the tables that a migration made.
async fn shape(world: &World) -> String {
    let query = "select string_agg(line, E'\\n' order by line) from ( \
         select format('%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull) as line \
         from pg_attribute join pg_class c on c.oid = attrelid \
         where relkind = 'r' and attnum > 0 and not attisdropped \
         and relnamespace::regnamespace::text in ('mirror', 'public', '\"Sch ema\"') \
         union all select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indrelid \
         where relnamespace::regnamespace::text in ('mirror', 'public', '\"Sch ema\"')) lines";
    world.destination_text(query).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_lead_up_and_all_the_way_down_again() {
    for drops in [&[][..], &["--allow-destructive"]] {
        let world = World::new("", "").await;
        let _ = world.destination.batch_execute("create role ops").await;
        let place = TempDir::new().unwrap();
        let clean = relations(&world).await;
        assert_eq!(migrate(place.path(), first(), &["--tables"]), Exit::Clean);
        assert_eq!(migrate(place.path(), then(), drops), Exit::Clean);
        let (up, down) = (
            ways(place.path(), ".up.sql"),
            ways(place.path(), ".down.sql"),
        );
        apply(&world, &up[0]).await;
        let first = shape(&world).await;
        apply(&world, &up[1]).await;
        assert_ne!(shape(&world).await, first);
        let reads =
            "select has_table_privilege('ops', 'replicant.replicant_leases', 'select')::text";
        assert_eq!(world.destination_text(reads).await, "true");
        apply(&world, &down[1]).await;
        let undone = shape(&world).await;
        if drops.is_empty() {
            assert_eq!(undone, first);
        } else {
            // What was dropped is there again, nullable, and last.
            assert_eq!(
                undone.replace(
                    "placed_at timestamp with time zone f",
                    "placed_at timestamp with time zone t"
                ),
                first
            );
        }
        apply(&world, &down[0]).await;
        assert_eq!(relations(&world).await, clean);
    }
}

/// The same resource with the types its source has, as a declaration of an application would say them.
pub(crate) async fn typed(world: &World, resource: &mut ResourceSpec) {
    let mut columns: Vec<ColumnSpec> = resource.columns.to_vec();
    for column in &mut columns {
        let Some(source) = column.origin.source() else {
            continue;
        };
        let table = QualifiedName::new(resource.source.schema, resource.source.table).unwrap();
        let query = format!(
            "select format_type(atttypid, atttypmod) || ' ' || attnotnull from pg_attribute \
             where attrelid = to_regclass('{}') and attname = '{source}'",
            table.quoted(),
        );
        let row = world.source.query_one(&query, &[]).await.unwrap();
        let found: String = row.get(0);
        let (ty, not_null) = found.rsplit_once(' ').unwrap();
        assert_eq!(column.storage, Storage::Any);
        column.sql_type = Some(ty.to_owned().leak());
        // The event of a truncate has no row.
        let always = not_null == "true" && resource.on_truncate != OnTruncate::Append;
        column.nullability = if always {
            Nullability::NotNull
        } else {
            Nullability::Nullable
        };
    }
    resource.columns = columns.leak();
}

/// Migrations written for the declaration make a destination in which it runs; undone, nothing of it is left.
async fn runs(world: &World, spec: &'static SinkSpec, changes: &str, count: &str, expected: &str) {
    let clean = relations(world).await;
    let place = TempDir::new().unwrap();
    let pipeline = || vec![Pipeline::of_spec(spec)];
    assert_eq!(
        migrate(place.path(), pipeline(), &["--tables"]),
        Exit::Clean
    );
    apply(world, &ways(place.path(), ".up.sql")[0]).await;
    let handle = world.start(spec).await;
    world.run(changes).await;
    world.caught_up().await;
    assert_eq!(world.destination_text(count).await, expected);
    handle.stop().await.unwrap();
    apply(world, &ways(place.path(), ".down.sql")[0]).await;
    assert_eq!(relations(world).await, clean);
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrors_and_histories_run_in_a_destination_made_by_migrations() {
    const TABLES: &str = "create table t (id int primary key, v varchar(20) not null, n numeric(9,2)); \
        create schema \"Sch ema\"; \
        create table \"Sch ema\".\"T\"\"q.x\" (\"Id\" int primary key, \"sel ect\" text)";
    let source = format!("{TABLES}; create table h (id int primary key, v text)");
    // Declared from the destination's catalog, and dropped before anything is written.
    let destination = format!("{TABLES}; create table h (id int not null, v text, {WINDOW})");
    let world = World::new(&source, &destination).await;
    let mut spec = world.specification(&["t", "h: history(id)"]).await;
    let odd = [("Sch ema", "T\"q.x")];
    let odd = Specification::of_named(&world.destination, world.slot, &odd).await;
    spec.resources.extend(odd.resources);
    for resource in &mut spec.resources {
        typed(&world, resource).await;
    }
    let drop = "drop table t, h, \"Sch ema\".\"T\"\"q.x\"; drop schema \"Sch ema\"";
    world.destination.batch_execute(drop).await.unwrap();
    let changes = "insert into t values (1, 'a', 1.5), (2, 'b', null); update t set v = 'c'; \
        insert into h values (1, 'a'); insert into \"Sch ema\".\"T\"\"q.x\" values (1, 'x')";
    let count = "select (select count(*) from t) || ' ' || (select count(*) from h) || ' ' || \
        (select \"sel ect\" from \"Sch ema\".\"T\"\"q.x\")";
    runs(&world, spec.build(), changes, count, "2 1 x").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_runs_in_a_destination_made_by_migrations() {
    let source = "create table t (id int primary key, v text not null); \
        alter table t replica identity full";
    let destination = format!("create table t (id int, v text, {STAMPS})");
    let world = World::new(source, &destination).await;
    let mut spec = world.specification(&["t: log"]).await;
    for resource in &mut spec.resources {
        typed(&world, resource).await;
    }
    world
        .destination
        .batch_execute("drop table t")
        .await
        .unwrap();
    let changes = "insert into t values (1, 'a'); update t set v = 'b'; delete from t; truncate t";
    let count = "select string_agg(operation, ' ' order by commit_lsn, ordinal) from t";
    runs(
        &world,
        spec.build(),
        changes,
        count,
        "insert update delete truncate",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_that_hooks_write_are_made_and_accepted() {
    let world = World::new(SHOP_SOURCE, "").await;
    let place = TempDir::new().unwrap();
    let shop = vec![Pipeline::of::<Shop>()];
    assert_eq!(migrate(place.path(), shop, &["--tables"]), Exit::Clean);
    for up in ways(place.path(), ".up.sql") {
        apply(&world, &up).await;
    }
    let handle = start::<Shop>(&world).await;
    world
        .run("insert into payment values (1, 5, null, null); insert into line values (1, 1)")
        .await;
    world.caught_up().await;
    let receipts = "select count(distinct operation_key)::text from receipt";
    assert_eq!(world.destination_text(receipts).await, "3");
    handle.stop().await.unwrap();
}
