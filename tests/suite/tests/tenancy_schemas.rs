//! Does each tenant's row go to the tenant's own schema, and to no other, whatever its name is?

use replicant_checkpoint::contract::resource::{OnTruncate, ResourceSpec};
use replicant_sink::doctor;
use replicant_sink::prelude::*;
use replicant_sink::seal::inventory::inventory;
use replicant_tests::World;
use replicant_tests::journal::{Journal, stored_versions};
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::refusal::{assert_says, drop_slot, halted, refused, slot_exists};
use replicant_tests::sealing::{keys, place, seal};
use tokio_postgres::Client;

const SOURCE: &str = "create table t (org text, id int, v text, big text, primary key (org, id)); \
    alter table t alter big set storage external; alter table t replica identity full";

/// The table in `public` only tells tests which columns there are.
const SHAPE: &str = "create table t (org text not null, id int primary key, v text, big text)";

const BY_SCHEMA: &[&str] = &["t by org in tenant_{}"];

async fn schema_of(client: &Client, tenant: &str, table: &str) {
    let query = "select quote_ident('tenant_' || $1)";
    let schema: String = client.query_one(query, &[&tenant]).await.unwrap().get(0);
    let ddl = format!(
        "create schema {schema}; {}",
        table.replace("{schema}", &schema)
    );
    client.batch_execute(&ddl).await.unwrap();
}

const TABLE: &str =
    "create table {schema}.t (org text not null, id int primary key, v text, big text)";

/// Everything in the tables of these tenants, compared with the source tenant by tenant.
async fn equal(world: &World, tenants: &[&str]) {
    world.caught_up().await;
    for tenant in tenants {
        let rows =
            "coalesce(string_agg(concat_ws('|', org, id, v, md5(big)), ' ' order by id), '')";
        let expected = format!("select {rows} from t where org = $1");
        let expected: String = world
            .source
            .query_one(&expected, &[tenant])
            .await
            .unwrap()
            .get(0);
        let schema = "select quote_ident('tenant_' || $1)";
        let schema = world.destination.query_one(schema, &[tenant]).await;
        let schema: String = schema.unwrap().get(0);
        let found = format!("select {rows} from {schema}.t");
        let found = world.destination_text(&found).await;
        assert_eq!(found, expected, "{tenant}");
    }
}

const TRANSACTIONS: &[&str] = &[
    "insert into t values ('a', 1, 'x', repeat('x', 5000)), ('b', 1, 'y', null), ('a', 2, 'z', null)",
    "update t set v = 'changed' where id = 1",
    "update t set org = 'b', id = 5 where org = 'a' and id = 1",
    "begin; delete from t where org = 'b' and id = 1; update t set org = 'b', id = 1 where org = 'a'; commit",
    "begin; update t set org = 'a' where org = 'b' and id = 5; update t set v = 'after' where org = 'a'; \
     update t set org = 'b' where org = 'a'; commit",
    "insert into t select o, n, 'many', null from generate_series(100, 800) n, unnest(array['a', 'b']) o",
    "begin; delete from t where org = 'a' and id >= 100; update t set org = 'a' where org = 'b' and id >= 100; commit",
    "update t set id = -id where org = 'a' and id < 200",
    "truncate t",
    "insert into t values ('a', 1, 'x', null), ('b', 1, 'y', null)",
];

#[tokio::test(flavor = "multi_thread")]
async fn rows_go_to_the_schema_of_their_tenant_live_and_in_groups() {
    for live in [true, false] {
        let world = World::new(SOURCE, SHAPE).await;
        for tenant in ["a", "b"] {
            schema_of(&world.destination, tenant, TABLE).await;
        }
        let spec = world.specification(BY_SCHEMA).await.build();
        let mut handle = world.start(spec).await;
        if live {
            for transaction in TRANSACTIONS {
                world.run(transaction).await;
                equal(&world, &["a", "b"]).await;
            }
        } else {
            handle.stop().await.unwrap();
            for transaction in TRANSACTIONS {
                world.run(transaction).await;
            }
            handle = world.start(spec).await;
            equal(&world, &["a", "b"]).await;
        }
        let shape = world.destination_text("select count(*)::text from public.t");
        assert_eq!(shape.await, "0");
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_comes_later_is_admitted_when_its_first_row_does() {
    let world = World::new(SOURCE, SHAPE).await;
    let spec = world.specification(BY_SCHEMA).await.build();
    // No tenant has a schema yet.
    let handle = world.start(spec).await;
    for tenant in ["a", "b", "c"] {
        schema_of(&world.destination, tenant, TABLE).await;
        world
            .run(&format!(
                "insert into t values ('{tenant}', 1, 'x', null); update t set v = v || 'y'"
            ))
            .await;
        equal(&world, &["a"]).await;
    }
    equal(&world, &["a", "b", "c"]).await;
    // A new connection to the destination knows them again.
    let backends = "select pg_terminate_backend(pid) from pg_stat_activity \
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'replicant%'";
    world.destination.execute(backends, &[]).await.unwrap();
    world.run("update t set v = 'after'").await;
    equal(&world, &["a", "b", "c"]).await;
    // And when the first thing it hears of them is that they are emptied.
    world.destination.execute(backends, &[]).await.unwrap();
    world.run("truncate t").await;
    equal(&world, &["a", "b", "c"]).await;
    for tenant in ["a", "b", "c"] {
        let left = format!("select count(*)::text from tenant_{tenant}.t");
        assert_eq!(world.destination_text(&left).await, "0");
    }
    // One large transaction in which two more tenants come, the second one long after the first.
    for tenant in ["d", "e"] {
        schema_of(&world.destination, tenant, TABLE).await;
    }
    world
        .run(
            "begin; insert into t select 'd', n, 'large', repeat('x', 2000) from generate_series(1, 6000) n; \
             insert into t select 'e', n, 'large', repeat('x', 2000) from generate_series(1, 6000) n; \
             update t set org = 'a', id = id + 10 where org = 'e' and id % 2 = 0; commit",
        )
        .await;
    equal(&world, &["a", "b", "c", "d", "e"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_without_a_schema_or_a_fitting_table_halts_and_is_not_named() {
    for (what, made, code, shown) in [
        (
            "no schema",
            "",
            "tenant_scope_unknown",
            "create schema if not exists \"tenant_{}\"; create table \"tenant_{}\".\"t\"",
        ),
        (
            "no table",
            "create schema tenant_canary",
            "tenant_scope_unknown",
            "create table \"tenant_{}\".\"t\"",
        ),
        (
            "no key",
            "create schema tenant_canary; create table tenant_canary.t (org text, id int, v text, big text)",
            "destination_unique_missing",
            "on \"tenant_{}\".\"t\" (\"id\")",
        ),
        (
            "a column of another type",
            "create schema tenant_canary; create table tenant_canary.t (org text, id int primary key, v int, big text)",
            "type_pair_lossy",
            "alter table \"tenant_{}\".\"t\" alter column \"v\" type text",
        ),
        (
            "a trigger",
            "create schema tenant_canary; create table tenant_canary.t (org text, id int primary key, v text, big text); \
             create function tenant_canary.no() returns trigger language plpgsql as 'begin return null; end'; \
             create trigger canary_no before insert on tenant_canary.t for each row execute function tenant_canary.no()",
            "destination_trigger",
            "alter table \"tenant_{}\".\"t\" disable trigger \"{}\"",
        ),
        (
            "a foreign key that cannot wait",
            "create schema tenant_canary; create table tenant_canary.p (id int primary key); \
             create table tenant_canary.t (org text, id int primary key references tenant_canary.p, v text, big text)",
            "destination_foreign_key",
            "alter table \"tenant_{}\".\"t\" alter constraint",
        ),
        (
            "a view",
            "create schema tenant_canary; create view tenant_canary.t as select ''::text as org, 1 as id, ''::text as v, ''::text as big",
            "destination_table_kind",
            "table tenant_{}.t",
        ),
    ] {
        let world = World::new(SOURCE, SHAPE).await;
        schema_of(&world.destination, "good", TABLE).await;
        let spec = world.specification(BY_SCHEMA).await.build();
        let handle = world.start(spec).await;
        world
            .run("insert into t values ('good', 1, 'x', null)")
            .await;
        world.caught_up().await;
        world.destination.batch_execute(made).await.unwrap();
        world
            .run("begin; insert into t values ('good', 2, 'x', null), ('canary', 1, 'x', null); commit")
            .await;
        let error = halted(handle).await;
        assert_says(&error, code, &[shown, " at "], what);
        let said = format!("{error} {error:?}");
        assert!(!said.contains("canary"), "{what}: {said}");
        let kept = world.destination_text("select count(*)::text from tenant_good.t");
        assert_eq!(kept.await, "1", "{what}");
        drop_slot(&world).await;
    }
}

/// A constraint's name is told when it is made of declared names, and no other.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_constraint_is_called_in_a_tenants_schema_does_not_tell_the_tenant() {
    for (constraint, shown) in [
        ("", "constraint \"t_v_key\""),
        ("constraint canary_v", "table tenant_{}.t"),
    ] {
        let world = World::new(SOURCE, SHAPE).await;
        let table = format!(
            "create schema tenant_canary; \
             create table tenant_canary.t (org text, id int primary key, v text {constraint} unique, big text)"
        );
        world.destination.batch_execute(&table).await.unwrap();
        let spec = world.specification(BY_SCHEMA).await.build();
        let handle = world.start(spec).await;
        world
            .run("insert into t values ('canary', 1, 'x', null), ('canary', 2, 'x', null)")
            .await;
        let error = halted(handle).await;
        let code = "destination_unique_conflict";
        assert_says(&error, code, &[shown, "23505"], constraint);
        let said = format!("{error} {error:?}");
        assert!(!said.contains("canary"), "{said}");
        drop_slot(&world).await;
    }
}

/// What is there at the start is judged at the start, as a diagnosis does.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_a_tenant_that_takes_no_rows_is_refused_at_the_start() {
    let world = World::new(SOURCE, SHAPE).await;
    schema_of(&world.destination, "good", TABLE).await;
    schema_of(
        &world.destination,
        "canary",
        "create table {schema}.t (org text, id int, v text, big text)",
    )
    .await;
    let spec = world.specification(BY_SCHEMA).await.build();
    let pipeline = world.pipeline(spec).await;
    let report = doctor::preflight(&pipeline).await;
    assert!(!format!("{report:?}").contains("canary"));
    let failed: Vec<_> = report.checks.iter().map(|check| check.reason).collect();
    assert!(failed.contains(&"destination_unique_missing"), "{report:?}");
    let error = refused(&pipeline).await;
    let named = ["tenant_{}.t"];
    assert_says(&error, "destination_unique_missing", &named, "at the start");
    assert!(!error.to_string().contains("canary"));
    assert!(!slot_exists(&world).await);
}

/// Tenants whose text is part of a name, or cannot be.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_tenant_reaches_no_other_schema() {
    let world = World::new(SOURCE, SHAPE).await;
    let forged = [
        "a\"; drop schema public cascade; --",
        "a'; --",
        "../public",
        "public.t",
        "A",
        "a",
        "a ",
        " a",
        "{}",
        "é",
        "$1",
    ];
    let spec = world.specification(BY_SCHEMA).await.build();
    for tenant in forged {
        schema_of(&world.destination, tenant, TABLE).await;
    }
    let handle = world.start(spec).await;
    for tenant in forged {
        let insert = "insert into t values ($1, 1, $1, null)";
        world.source.execute(insert, &[&tenant]).await.unwrap();
    }
    equal(&world, &forged).await;
    let others = "select count(*)::text from public.t";
    assert_eq!(world.destination_text(others).await, "0");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_makes_no_name_of_a_schema_of_its_own_halts() {
    let long = "x".repeat(57);
    let wide = "é".repeat(29);
    // What stands before the tenant, a tenant, and what the message says of it.
    for (template, tenant, says) in [
        // 64 bytes, which a server would cut to 63 and so to another tenant's schema.
        ("tenant_{}", long.as_str(), "no name of a schema"),
        ("tenant_{}", wide.as_str(), "no name of a schema"),
        ("tenant_{}", "a\nb", "no name of a schema"),
        ("pub{}", "lic", "belongs to no tenant"),
    ] {
        let world = World::new(SOURCE, SHAPE).await;
        // The schema that a careless name would reach.
        let cut: String = format!("tenant_{}", "x".repeat(56));
        let trap = format!(
            "create schema {cut}; create table {cut}.t (org text, id int primary key, v text, big text)"
        );
        world.destination.batch_execute(&trap).await.unwrap();
        let words = format!("t by org in {template}");
        let spec = world.specification(&[&words]).await.build();
        let handle = world.start(spec).await;
        let insert = "insert into t values ($1, 1, 'x', null)";
        world.source.execute(insert, &[&tenant]).await.unwrap();
        let error = halted(handle).await;
        let table = format!("{template}.t");
        assert_says(&error, "tenant_scope_unknown", &[&table, says], tenant);
        for table in [format!("{cut}.t"), "public.t".into()] {
            let count = format!("select count(*)::text from {table}");
            assert_eq!(world.destination_text(&count).await, "0", "{table}");
        }
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_in_schemas_have_the_versions_of_their_tenant() {
    let table = format!(
        "create table {{schema}}.t (org text not null, id int not null, v text, big text, {WINDOW}); \
         create unique index on {{schema}}.t (id, valid_from_lsn); \
         create unique index on {{schema}}.t (id) where valid_to_lsn is null"
    );
    let columns: &[&str] = &["org", "id", "v", "big"];
    let world = World::new(SOURCE, &table.replace("{schema}", "public")).await;
    let mut journal = Journal::open(&world, &[("t", columns)]).await;
    schema_of(&world.destination, "a", &table).await;
    let spec = world
        .specification(&["t by org in tenant_{}: history(id)"])
        .await
        .build();
    let handle = world.start(spec).await;
    schema_of(&world.destination, "b", &table).await;
    for transaction in TRANSACTIONS {
        world.run(transaction).await;
    }
    world.caught_up().await;
    journal.read(&world.source).await;
    let mut found = stored_versions(&world.destination, "tenant_a.t", columns).await;
    found.extend(stored_versions(&world.destination, "tenant_b.t", columns).await);
    found.sort();
    assert_eq!(found, journal.versions("t", &[0, 1]));
    handle.stop().await.unwrap();

    // The checkpoint is forgotten: what both histories hold is not written again.
    drop_slot(&world).await;
    let forget = "delete from replicant.replicant_watermarks; delete from replicant.replicant_contracts; \
        delete from replicant.replicant_leases; delete from replicant.replicant_tables; \
        delete from replicant.replicant_targets";
    world.destination.batch_execute(forget).await.unwrap();
    let handle = world.start(spec).await;
    let until =
        "select count(*)::text from replicant.replicant_tables where recorded_until is not null";
    assert_eq!(world.destination_text(until).await, "1");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_schemas_of_tenants_does_not_start() {
    let world = World::new(
        "create table t (org text, id int primary key); alter table t replica identity full",
        &format!("create table t (org text, id int, {STAMPS}, unique ({AXES}))"),
    )
    .await;
    let specification = world.specification(&["t by org in tenant_{}: log"]).await;
    let spec = specification.with("t", |t| t.on_truncate = OnTruncate::Halt);
    let error = refused(&world.pipeline(spec.build()).await).await;
    let named = ["append_log_per_schema"];
    assert_says(&error, "append_frontier_unavailable", &named, "a log");
    assert!(!slot_exists(&world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn envelopes_in_schemas_belong_to_their_tenant() {
    let table = "create table {schema}.t (org text not null, id int primary key, encrypted_pan bytea, big text)";
    let world = World::new(
        "create table t (org text, id int, pan text, big text, primary key (org, id)); \
         alter table t alter pan set storage external; alter table t replica identity full",
        &table.replace("{schema}", "public"),
    )
    .await;
    let keys = keys(&[("k", 1)]);
    let sealed = |resource: &mut ResourceSpec| seal(resource);
    let spec = world.specification(BY_SCHEMA).await;
    let spec = spec.with("t", sealed).build();
    let pipeline = world.pipeline(spec).await;
    let pipeline = pipeline.vault(StaticVault::new(keys.clone()));
    schema_of(&world.destination, "a", table).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    // One tenant is there at the start, and one comes later.
    schema_of(&world.destination, "b", table).await;
    world
        .run("insert into t values ('a', 1, repeat('4111', 2000), 'x'), ('b', 1, '5222', 'y')")
        .await;
    world
        .run("update t set org = 'b', id = 2 where org = 'a'")
        .await;
    world
        .run("insert into t values ('a', 1, 'kept', 'x')")
        .await;
    world.caught_up().await;
    let place = place("t", "encrypted_pan");
    let envelope = async |query: &str| -> Vec<u8> {
        world
            .destination
            .query_one(query, &[])
            .await
            .unwrap()
            .get(0)
    };
    let open = |tenant: &str, envelope: &[u8]| {
        let opened = Sealed::<String>::open(&keys, &place, Some(tenant), envelope);
        opened.map(|opened| opened.expose().clone())
    };
    let moved = envelope("select encrypted_pan from tenant_b.t where id = 2").await;
    assert_eq!(open("b", &moved).unwrap(), "4111".repeat(2000));
    let kept = envelope("select encrypted_pan from tenant_a.t").await;
    assert_eq!(open("a", &kept).unwrap(), "kept");
    assert_eq!(open("b", &kept).unwrap_err().code(), "sealed_value_invalid");
    // Keys are counted over all tenants.
    let counted = inventory(&pipeline).await.unwrap();
    assert_eq!(counted.columns[0].table, "tenant_{}.t");
    assert_eq!(counted.columns[0].keys[0].rows, 3);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Foreign keys inside of a tenant's schema and to a table that all tenants share.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_keys_of_tenants_wait_for_the_commit() {
    let world = World::new(
        "create table country (code text primary key); \
         create table p (org text, id int, primary key (org, id)); alter table p replica identity full; \
         create table c (org text, id int, p int, country text references country, primary key (org, id), \
            foreign key (org, p) references p deferrable initially deferred); \
         alter table c replica identity full",
        "create table country (code text primary key); create table p (org text, id int primary key); \
         create table c (org text, id int primary key, p int, country text)",
    )
    .await;
    let tables = "create table {schema}.p (org text, id int primary key, state {schema}.state); \
        create table {schema}.c (org text, id int primary key, p int references {schema}.p deferrable, \
            country text references public.country deferrable)";
    // A type of the tenant's own is no obstacle either.
    let tables = format!("create type {{schema}}.state as enum ('on', 'off'); {tables}");
    schema_of(&world.destination, "a", &tables).await;
    let spec = world
        .specification(&["country", "p by org in tenant_{}", "c by org in tenant_{}"])
        .await
        .build();
    let handle = world.start(spec).await;
    schema_of(&world.destination, "b", &tables).await;
    for tenant in ["a", "b"] {
        // The child is written first on the source, and the shared parent is new.
        world
            .run(&format!(
                "begin; insert into country values ('{tenant}'); \
                 insert into c values ('{tenant}', 1, 7, '{tenant}'); insert into p values ('{tenant}', 7); commit"
            ))
            .await;
    }
    world
        .run("begin; delete from p where org = 'a'; delete from c where org = 'a'; commit")
        .await;
    world.caught_up().await;
    let left = "select (select count(*) from tenant_a.c) || ',' || (select count(*) from tenant_a.p) || ',' || \
        (select count(*) from tenant_b.c) || ',' || (select count(*) from tenant_b.p)";
    assert_eq!(world.destination_text(left).await, "0,0,1,1");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// A foreign key reaches into a schema that the mirror has nothing to do with, or into another tenant's.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_key_between_tenants_is_refused_and_neither_is_named() {
    for (child, shown) in [
        (
            "create table tenant_canary.child (id int references tenant_good.t)",
            "alter table \"tenant_{}\".\"child\" alter constraint",
        ),
        (
            "create table tenant_canary.t (org text not null, id int primary key references tenant_good.t, v text, big text)",
            "alter table \"tenant_{}\".\"t\" alter constraint",
        ),
    ] {
        let world = World::new(SOURCE, SHAPE).await;
        schema_of(&world.destination, "good", TABLE).await;
        schema_of(&world.destination, "canary", child).await;
        let spec = world.specification(BY_SCHEMA).await.build();
        let error = refused(&world.pipeline(spec).await).await;
        assert_says(&error, "destination_foreign_key", &[shown], child);
        let said = format!("{error} {error:?}");
        assert!(!said.contains("canary"), "{said}");
        assert!(!said.contains("good"), "{said}");
    }
}

/// `tenant_{}` for `eu_a` is `tenant_eu_{}` for `a`: rows of two sources would be in one table.
#[tokio::test(flavor = "multi_thread")]
async fn two_resources_whose_tenants_could_share_a_table_do_not_start() {
    let source = "create table t (org text, id int, primary key (org, id)); alter table t replica identity full; \
        create table u (org text, id int, primary key (org, id)); alter table u replica identity full";
    let shape = "create table t (org text not null, id int primary key); \
        create table u (org text not null, id int primary key)";
    let world = World::new(source, shape).await;
    let specification = world.specification(&["t by org in tenant_{}", "u by org in tenant_eu_{}"]);
    let specification = specification.await.with("u", |u| u.target.table = "t");
    let error = refused(&world.pipeline(specification.build()).await).await;
    let named = ["target_shared_by_tenants", "`tenant_{}` and `tenant_eu_{}`"];
    assert_says(&error, "declaration_invalid", &named, "overlapping");
    assert!(!slot_exists(&world).await);
}
