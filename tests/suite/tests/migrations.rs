//! Do the written migrations make a destination that admission accepts, and does a changed declaration write only its
//! change?

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use replicant_checkpoint::contract::resource::{ColumnSpec, Nullability, ResourceSpec, Storage};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_checkpoint::store::Store;
use replicant_cli::Exit;
use replicant_sink::ddl::{self, MadeBy};
use replicant_sink::pipeline::Pipeline;
use replicant_tests::World;
use replicant_tests::kept::{STAMPS, WINDOW};
use replicant_tests::specification::Specification;
use replicant_transport::ident::{Ident, QualifiedName};
use tempfile::TempDir;

/// What is declared first.
#[allow(dead_code, reason = "only what is declared matters")]
mod before {
    use chrono::{DateTime, Utc};
    use replicant_sink::prelude::*;
    use rust_decimal::Decimal;

    #[replicant(
        schema = "mirror",
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        sensitive(pan),
        identity(by_number, keys(number)),
        identity(by_token, keys(token), all_tenants, where = "token <> ''"),
        upsert_identity = by_number,
        snapshot_provenance,
        actions(
            read,
            destroy,
            create(accept = all),
            update(accept = all),
            update(replicant_mark_seen, private, mark_seen),
            destroy(replicant_retire_unseen, private),
        )
    )]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
        pub org_id: i64,
        pub number: i32,
        pub token: String,
        #[replicant(sql_type = "numeric(12,2)")]
        pub amount: Decimal,
        pub note: String,
        pub placed_at: DateTime<Utc>,
        #[replicant(encrypted)]
        pub pan: Sealed<String>,
        #[replicant(private)]
        pub replica_fingerprint: Option<Vec<u8>>,
        #[replicant(private)]
        pub replica_seen_attempt: Option<Vec<u8>>,
    }

    #[replicant(
        schema = "mirror",
        source_table = "customers",
        table = "customer_versions",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        history_strategy = scd2,
        history_business_key(customer_id),
        history_valid_from_timestamp_attribute = valid_from,
        identity(version_key, keys(customer_id, valid_from_lsn)),
        upsert_identity = version_key,
        on_truncate = close,
        actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn)))
    )]
    pub struct CustomerVersion {
        #[replicant(primary_key, generated)]
        pub version_id: i64,
        #[replicant(source = "id")]
        pub customer_id: i64,
        pub org_id: i64,
        pub name: String,
        pub valid_from_lsn: i64,
        pub valid_to_lsn: Option<i64>,
        pub valid_from: Option<DateTime<Utc>>,
    }

    #[replicant(
        schema = "Sch ema",
        table = "T\"q.x",
        actions(read, destroy, create(accept = all), update(accept = all))
    )]
    pub struct Odd {
        #[replicant(primary_key, column = "sel ect")]
        pub id: i64,
        pub text: Option<String>,
    }

    #[replicant_domain(resources(Order, CustomerVersion, Odd))]
    pub struct Everything;

    #[replicant_checkpoint(schema = "replicant", grants(select = "ops"))]
    pub struct Kept;

    #[replicant_sink(slot_name = "first", domains(Everything), checkpoint = Kept)]
    pub struct Sink;

    #[replicant(
        source_table = "orders",
        table = "order_events",
        append_log,
        on_truncate = append,
        identity(
            append_identity,
            keys(source_system_id, source_database, slot_name, commit_lsn, ordinal),
            all_tenants
        ),
        actions(read, create(append, accept = all))
    )]
    pub struct OrderEvent {
        #[replicant(primary_key, generated)]
        pub event_id: i64,
        pub source_system_id: String,
        pub source_database: String,
        pub slot_name: String,
        pub commit_lsn: i64,
        pub ordinal: i64,
        pub operation: String,
        pub origin: String,
        pub snapshot_attempt: Option<Vec<u8>>,
        pub id: Option<i64>,
        #[replicant(before = id)]
        pub id_before: Option<i64>,
    }

    #[replicant_domain(resources(OrderEvent))]
    pub struct Events;

    #[replicant_checkpoint(schema = "replicant")]
    pub struct KeptToo;

    #[replicant_sink(
        slot_name = "events",
        sink_kind = append_log,
        initial_state = go_forward,
        domains(Events),
        checkpoint = KeptToo
    )]
    pub struct EventSink;
}

/// What is declared then: a column renamed, one wider, one nullable, one gone and one new, an identity gone and one
/// new, a table gone and one new.
#[allow(dead_code, reason = "only what is declared matters")]
mod after {
    use chrono::{DateTime, Utc};
    use replicant_sink::prelude::*;
    use rust_decimal::Decimal;

    pub use super::before::{CustomerVersion, EventSink, Kept};

    #[replicant(
        schema = "mirror",
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        sensitive(pan),
        identity(by_number, keys(number)),
        identity(by_place, keys(place)),
        upsert_identity = by_number,
        snapshot_provenance,
        actions(
            read,
            destroy,
            create(accept = all),
            update(accept = all),
            update(replicant_mark_seen, private, mark_seen),
            destroy(replicant_retire_unseen, private),
        )
    )]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
        pub org_id: i64,
        pub number: i64,
        #[replicant(column = "token_text")]
        pub token: String,
        #[replicant(sql_type = "numeric(14,2)")]
        pub amount: Decimal,
        pub note: Option<String>,
        pub place: i32,
        #[replicant(encrypted)]
        pub pan: Sealed<String>,
        #[replicant(private)]
        pub replica_fingerprint: Option<Vec<u8>>,
        #[replicant(private)]
        pub replica_seen_attempt: Option<Vec<u8>>,
    }

    #[replicant(
        schema = "mirror",
        table = "labels",
        actions(read, destroy, create(accept = all), update(accept = all))
    )]
    pub struct Label {
        #[replicant(primary_key)]
        pub id: i64,
        pub seen: DateTime<Utc>,
    }

    #[replicant_domain(resources(Order, CustomerVersion, Label))]
    pub struct Everything;

    #[replicant_sink(slot_name = "first", domains(Everything), checkpoint = Kept)]
    pub struct Sink;

    /// A conversion that loses values.
    pub mod narrower {
        use replicant_sink::prelude::*;

        #[replicant(
            schema = "mirror",
            table = "labels",
            actions(read, destroy, create(accept = all), update(accept = all))
        )]
        pub struct Label {
            #[replicant(primary_key)]
            pub id: i32,
        }

        #[replicant_domain(resources(Label))]
        pub struct Everything;

        #[replicant_sink(slot_name = "first", domains(Everything), checkpoint = super::Kept)]
        pub struct Sink;
    }
}

/// What no migration can be written for.
#[allow(dead_code, reason = "only what is declared matters")]
mod unsaid {
    use replicant_sink::prelude::*;

    #[replicant(table = "t", actions(read, destroy, create(accept = all), update(accept = all)))]
    pub struct Anything {
        #[replicant(primary_key)]
        pub id: i64,
        pub point: PgText,
    }

    #[replicant(
        table = "u",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org,
        actions(read, destroy, create(accept = all), update(accept = all))
    )]
    pub struct PerTenant {
        #[replicant(primary_key)]
        pub id: i64,
        pub org: i64,
    }

    #[replicant_domain(resources(Anything))]
    pub struct Domain;

    #[replicant_domain(resources(PerTenant))]
    pub struct Tenants;

    #[replicant_checkpoint(schema = "replicant")]
    pub struct Kept;

    #[replicant_sink(slot_name = "one", domains(Domain), checkpoint = Kept)]
    pub struct Sink;

    #[replicant_sink(slot_name = "two", domains(Tenants), checkpoint = Kept)]
    pub struct TenantSink;
}

fn before() -> Vec<Pipeline> {
    vec![
        Pipeline::of::<before::Sink>(),
        Pipeline::of::<before::EventSink>(),
    ]
}

fn after() -> Vec<Pipeline> {
    vec![
        Pipeline::of::<after::Sink>(),
        Pipeline::of::<after::EventSink>(),
    ]
}

fn migrate(directory: &Path, pipelines: Vec<Pipeline>, options: &[&str]) -> Exit {
    let fixed = ["replicant", "migrations", "--dir"].map(Into::into);
    let options = options.iter().map(Into::into);
    let arguments = fixed.into_iter().chain([directory.into()]).chain(options);
    replicant_cli::run(arguments, pipelines)
}

/// Every file of the directory by name.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let named = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(named).collect()
}

/// The ways up in order, or the ways down.
fn ways(directory: &Path, ending: &str) -> Vec<String> {
    let files = files(directory).into_iter();
    files
        .filter(|(name, _)| name.ends_with(ending))
        .map(|(_, text)| text)
        .collect()
}

async fn apply(world: &World, migration: &str) {
    // As sqlx does: one transaction for each file.
    let transaction = format!("begin; {migration} commit");
    let applied = world.destination.batch_execute(&transaction).await;
    applied.unwrap_or_else(|error| panic!("{migration}\n{error:?}"));
}

async fn relations(world: &World) -> String {
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

/// Compares with the file of that name; `BLESS=1` writes it.
fn golden(name: &str, text: &str) {
    let store = Store::in_schema(Ident::new("replicant").unwrap());
    let mut text = text.to_owned();
    for (whole, short) in [(store.ddl(), "ddl"), (store.drop_ddl(), "drop_ddl")] {
        let whole = whole.trim_end().to_owned();
        text = text.replace(&whole, &format!("<{short} of the checkpoint>;"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden/migrations")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name}");
}

#[test]
fn the_text_of_migrations_is_as_reviewed() {
    let place = TempDir::new().unwrap();
    assert_eq!(migrate(place.path(), before(), &["--tables"]), Exit::Clean);
    assert_eq!(migrate(place.path(), after(), &[]), Exit::Clean);
    let (up, down) = (
        ways(place.path(), ".up.sql"),
        ways(place.path(), ".down.sql"),
    );
    assert_eq!((up.len(), down.len()), (2, 2));
    golden("first.up.sql", &up[0]);
    golden("first.down.sql", &down[0]);
    golden("second.up.sql", &up[1]);
    golden("second.down.sql", &down[1]);
    golden("replicant.snapshot.json", &{
        // The version is the time of the run.
        let snapshot = files(place.path())
            .remove("replicant.snapshot.json")
            .unwrap();
        let lines = snapshot
            .lines()
            .filter(|line| !line.contains("\"last\"") && !line.contains("\"checksum\""));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    });

    let host = TempDir::new().unwrap();
    assert_eq!(migrate(host.path(), before(), &[]), Exit::Clean);
    golden("host.up.sql", &ways(host.path(), ".up.sql")[0]);
    golden("host.down.sql", &ways(host.path(), ".down.sql")[0]);
}

#[test]
fn a_second_run_writes_nothing_and_a_check_tells_what_is_not_written() {
    let place = TempDir::new().unwrap();
    let directory = &place.path().join("new");
    assert_eq!(
        migrate(directory, before(), &["--tables", "--check"]),
        Exit::Failed
    );
    assert_eq!(
        migrate(directory, before(), &["--tables", "--dry-run"]),
        Exit::Clean
    );
    assert!(!directory.exists());
    assert_eq!(migrate(directory, before(), &["--tables"]), Exit::Clean);
    let written = files(directory);
    assert_eq!(written.len(), 3, "{:?}", written.keys());
    for options in [
        &[][..],
        &["--tables"],
        &["--check"],
        &["--pipeline", "first"],
        &["--json"],
    ] {
        assert_eq!(
            migrate(directory, before(), options),
            Exit::Clean,
            "{options:?}"
        );
        assert_eq!(files(directory), written, "{options:?}");
    }
    assert_eq!(migrate(directory, after(), &["--check"]), Exit::Failed);
    // One pipeline's change leaves the other's tables alone.
    let only = vec![Pipeline::of::<after::Sink>()];
    assert_eq!(
        migrate(directory, only, &["--pipeline", "first"]),
        Exit::Clean
    );
    assert_eq!(migrate(directory, after(), &["--check"]), Exit::Clean);
}

#[test]
fn what_cannot_be_used_is_refused_and_nothing_is_written() {
    let place = TempDir::new().unwrap();
    let directory = place.path();
    let refused = |pipelines: Vec<Pipeline>, options: &[&str], exit| {
        let before = files(directory);
        assert_eq!(migrate(directory, pipelines, options), exit, "{options:?}");
        assert_eq!(files(directory), before, "{options:?}");
    };
    refused(before(), &["--name", "a-b"], Exit::NotAsked);
    refused(before(), &["--pipeline", "third"], Exit::NotAsked);
    refused(Vec::new(), &[], Exit::NotAsked);
    let twice = [before(), vec![Pipeline::of::<before::Sink>()]].concat();
    refused(twice, &[], Exit::NotAsked);
    let claimed = vec![
        Pipeline::of::<before::Sink>(),
        Pipeline::of::<before::Sink>().named("other"),
    ];
    refused(claimed, &[], Exit::Failed);

    assert_eq!(migrate(directory, after(), &["--tables"]), Exit::Clean);
    let narrower = || vec![Pipeline::of::<after::narrower::Sink>()];
    refused(narrower(), &["--pipeline", "first"], Exit::Failed);
    let snapshot = directory.join("replicant.snapshot.json");
    let text = fs::read_to_string(&snapshot).unwrap();
    for damaged in [
        "",
        "{}",
        &text.replace("labels", "lapels"),
        &text.replace(": 1,", ": 9,"),
    ] {
        fs::write(&snapshot, damaged).unwrap();
        refused(before(), &[], Exit::NotAsked);
    }
    fs::write(&snapshot, &text).unwrap();
    let meant = ["--pipeline", "first", "--allow-destructive"];
    assert_eq!(migrate(directory, narrower(), &meant), Exit::Clean);
    let up = ways(directory, ".up.sql").remove(1);
    assert!(
        up.contains("\nalter table \"mirror\".\"labels\" alter column \"id\" type integer"),
        "{up}"
    );
    assert!(up.contains("\ndrop table \"mirror\".\"orders\";"), "{up}");

    let file = directory.join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(migrate(&file, before(), &[]), Exit::NotAsked);
}

#[test]
fn what_a_declaration_does_not_tell_is_refused_by_name() {
    let told = |pipeline: Pipeline, tables| -> Vec<String> {
        match ddl::wanted(pipeline.spec(), tables, None) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    };
    let anything = Pipeline::of::<unsaid::Sink>;
    let [line] = <[String; 1]>::try_from(told(anything(), MadeBy::Migrations)).unwrap();
    assert!(line.starts_with("sql_type_required"), "{line}");
    assert!(
        line.contains("public.t") && line.contains("point"),
        "{line}"
    );
    assert_eq!(told(anything(), MadeBy::Host), [""; 0]);
    let [line] =
        <[String; 1]>::try_from(told(Pipeline::of::<unsaid::TenantSink>(), MadeBy::Host)).unwrap();
    assert!(line.starts_with("option_not_available"), "{line}");
    assert!(line.contains("strategy = context"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_lead_up_and_all_the_way_down_again() {
    for drops in [&[][..], &["--allow-destructive"]] {
        let world = World::new("", "").await;
        let _ = world.destination.batch_execute("create role ops").await;
        let place = TempDir::new().unwrap();
        let clean = relations(&world).await;
        assert_eq!(migrate(place.path(), before(), &["--tables"]), Exit::Clean);
        assert_eq!(migrate(place.path(), after(), drops), Exit::Clean);
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
async fn typed(world: &World, resource: &mut ResourceSpec) {
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
        column.nullability = if not_null == "true" {
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
