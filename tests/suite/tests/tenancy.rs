//! Are the rows of each tenant found, written and removed as its own, whatever shape they are held in?

use replicant_checkpoint::contract::resource::{
    ColumnSpec, IdentityReach, IdentitySpec, OnTruncate, Origin, ResourceSpec, Tenancy,
    TenancyReach, TenancyStrategy,
};
use replicant_sink::doctor;
use replicant_tests::World;
use replicant_tests::compare::rows;
use replicant_tests::journal::{Journal, stored_versions};
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::refusal::{
    assert_says, checkpoint_text, drop_slot, halted, has_checkpoint_tables, refused,
    shown_statement, slot_exists,
};
use replicant_tests::scenario::Scenario;

/// The source finds rows by tenant and key; so does the mirror, whatever its primary key.
const SOURCE: &str = "create table t (org text, id int, v text, big text, primary key (org, id)); \
    alter table t alter big set storage external; alter table t replica identity full";

const DESTINATION: &str =
    "create table t (org text not null, id int not null, v text, big text, primary key (org, id))";

const COLUMNS: &[&str] = &["org", "id", "v", "big"];

/// Two tenants with the same keys: inserts, updates, unchanged large values, key changes, moves from one tenant to the
/// other (with and without another key, onto a key that just became free), swaps, deletes, truncate.
const TRANSACTIONS: &[&str] = &[
    "insert into t values ('a', 1, 'x', repeat('x', 5000)), ('b', 1, 'y', repeat('y', 5000)), ('a', 2, 'z', null)",
    "update t set v = 'changed' where org = 'a' and id = 1",
    "update t set v = v || '!' where id = 1",
    "update t set id = 3 where org = 'b' and id = 1",
    "update t set org = 'b' where org = 'a' and id = 1",
    "update t set org = 'a', id = 9, v = 'moved' where org = 'b' and id = 3",
    "begin; delete from t where org = 'b' and id = 1; update t set org = 'b', id = 1 where org = 'a' and id = 2; commit",
    "insert into t values ('a', 1, 'again', repeat('z', 5000)), ('c', 1, 'new', null)",
    "begin; update t set org = 'tmp' where org = 'a' and id = 1; update t set org = 'a' where org = 'b' and id = 1; \
     update t set org = 'b' where org = 'tmp'; commit",
    "delete from t where id = 1 and org <> 'c'",
    "insert into t select o, n, 'many', null from generate_series(100, 800) n, unnest(array['a', 'b']) o",
    "begin; delete from t where org = 'a' and id >= 100; update t set org = 'a' where org = 'b' and id >= 100; commit",
    "truncate t",
    "insert into t values ('a', 1, 'x', null), ('b', 1, 'y', null)",
];

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_two_tenants_with_equal_keys_never_meet() {
    Scenario::new(SOURCE, DESTINATION, &["t"])
        .mirrors_declared(TRANSACTIONS, |specification| {
            specification.with("t", |t| tenants(t, "org"))
        })
        .await;
}

fn tenants(resource: &mut ResourceSpec, org: &'static str) {
    replicant_tests::tenancy::by(resource, TenancyStrategy::Attribute(org), org);
}

/// The destination's primary key does not name the tenant; an index that does is asked for beside it.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_found_by_its_tenant_and_a_key_that_does_not_name_it() {
    let source = "create table t (id int primary key, org text, v text, big text); \
        alter table t alter big set storage external; alter table t replica identity full";
    let destination = "create table t (id int primary key, org text not null, v text, big text, unique (org, id))";
    Scenario::new(source, destination, &["t"])
        .mirrors_declared(
            &[
                "insert into t values (1, 'a', 'x', repeat('x', 5000)), (2, 'b', 'y', null), (3, 'a', 'z', null)",
                "update t set v = 'changed'",
                // Moved in place, moved with the key, and moved back within one transaction.
                "update t set org = 'b' where id = 1",
                "update t set org = 'a', id = 20 where id = 2",
                "begin; update t set org = 'c' where id = 3; update t set org = 'a' where id = 3; commit",
                "begin; update t set org = 'c' where id = 3; update t set v = 'after' where id = 3; \
                 delete from t where id = 1; insert into t values (1, 'c', 'new', null); commit",
                "insert into t select n, case n % 2 when 0 then 'a' else 'b' end, 'many', null from generate_series(100, 900) n",
                "update t set org = case org when 'a' then 'b' else 'a' end where id >= 100",
                "delete from t where org = 'a'",
            ],
            |specification| specification.with("t", |t| tenants(t, "org")),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_has_the_versions_of_each_tenant() {
    let destination = format!(
        "create table t (org text not null, id int not null, v text, big text, {WINDOW}); \
         create unique index on t (org, id, valid_from_lsn); \
         create unique index on t (org, id) where valid_to_lsn is null"
    );
    for live in [true, false] {
        let world = World::new(SOURCE, &destination).await;
        let mut journal = Journal::open(&world, &[("t", COLUMNS)]).await;
        let specification = world.specification(&["t by org: history(id)"]).await;
        let spec = specification.build();
        let mut handle = world.start(spec).await;
        if !live {
            handle.stop().await.unwrap();
            for transaction in TRANSACTIONS {
                world.run(transaction).await;
            }
            handle = world.start(spec).await;
        } else {
            for transaction in TRANSACTIONS {
                world.run(transaction).await;
                world.caught_up().await;
            }
        }
        world.caught_up().await;
        journal.read(&world.source).await;
        // The journal finds versions by tenant and key: a move closes one in one tenant and opens one in the other.
        let expected = journal.versions("t", &[0, 1]);
        let found = stored_versions(&world.destination, "t", COLUMNS).await;
        assert_eq!(found, expected);
        let open = "select string_agg(org || id, ',' order by org, id) from t where is_current";
        assert_eq!(world.destination_text(open).await, "a1,b1");
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_tells_no_tenant_what_was_anothers() {
    let world = World::new(
        "create table t (org text, id int primary key, v text, big text); alter table t replica identity full; \
         alter table t alter big set storage external",
        &format!(
            "create table t (org text not null, id int, v text, big text, before_v text, {STAMPS}, unique ({AXES}))"
        ),
    )
    .await;
    let specification = world.specification(&["t by org: log"]).await;
    // The truncate of a log with tenants would be nobody's event.
    let specification = specification.with("t", |t| t.on_truncate = OnTruncate::Halt);
    let handle = world.start(specification.build()).await;
    world
        .run("insert into t values ('a', 1, 'secret of a', repeat('x', 5000))")
        .await;
    world.run("update t set v = 'second' where id = 1").await;
    world.run("update t set org = 'b' where id = 1").await;
    world
        .run("update t set v = 'third' where id = 1; delete from t")
        .await;
    world.caught_up().await;
    let events = world
        .destination
        .query(
            "select concat_ws(' ', org, operation, v, length(big), 'before', before_v) from t \
             order by commit_lsn, ordinal",
            &[],
        )
        .await
        .unwrap();
    let events: Vec<String> = events.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        events,
        [
            "a insert secret of a 5000 before",
            "a update second 5000 before secret of a",
            "b update second 5000 before",
            "b update third 5000 before second",
            "b delete third 5000 before third",
        ]
    );
    world.run("truncate t").await;
    assert_eq!(halted(handle).await.code(), "truncate_halt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_nobody_stops_before_anything_of_its_transaction_is_written() {
    for (what, poison, side) in [
        ("null", "insert into t values (null, 7, 'x')", "new"),
        ("empty", "insert into t values ('', 7, 'x')", "new"),
        ("blank", "insert into t values (E' \\t\\n', 7, 'x')", "new"),
        ("taken away", "update t set org = null where id = 1", "new"),
    ] {
        let world = World::new(
            "create table t (org text, id int primary key, v text); alter table t replica identity full",
            "create table t (org text not null, id int primary key, v text, unique (org, id))",
        )
        .await;
        let spec = world.specification(&["t by org"]).await.build();
        let handle = world.start(spec).await;
        world.run("insert into t values ('a', 1, 'kept')").await;
        world.caught_up().await;
        handle.stop().await.unwrap();
        let before = world.watermark().await;
        // One group: good, good, poison.
        world.run("insert into t values ('a', 2, 'kept')").await;
        world.run("insert into t values ('b', 3, 'kept')").await;
        world
            .run(&format!(
                "begin; insert into t values ('b', 4, 'never'); {poison}; commit"
            ))
            .await;
        world.run("insert into t values ('b', 5, 'later')").await;
        let error = refused(&world.pipeline(spec).await).await;
        let row = format!("of the {side} row");
        let named = ["public.t", "org", row.as_str()];
        assert_says(&error, "tenant_required", &named, what);
        let kept = world
            .destination_text("select string_agg(id::text, ',' order by id) from t")
            .await;
        assert_eq!(kept, "1,2,3", "{what}");
        assert!(world.watermark().await > before, "{what}");
        drop_slot(&world).await;
    }
}

/// An event of nobody is not appended, and a version of nobody not opened: neither is any other of that transaction.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_nobodys_is_neither_an_event_nor_a_version() {
    let log = format!(
        "create table t (org text not null, id int, v text, before_v text, {STAMPS}, unique ({AXES}))"
    );
    let history = format!(
        "create table t (org text not null, id int not null, v text, {WINDOW}); \
         create unique index on t (org, id, valid_from_lsn); \
         create unique index on t (org, id) where valid_to_lsn is null"
    );
    for (tables, destination, kept) in [
        (["t by org: log"], log, 3),
        (["t by org: history(id)"], history, 3),
    ] {
        let source = "create table t (org text, id int primary key, v text); alter table t replica identity full";
        let world = World::new(source, &destination).await;
        let specification = world.specification(&tables).await;
        let halting = |t: &mut ResourceSpec| t.on_truncate = OnTruncate::Halt;
        let handle = world.start(specification.with("t", halting).build()).await;
        world
            .run("insert into t values ('a', 1, 'x'), ('b', 2, 'x')")
            .await;
        world.run("update t set v = 'y' where id = 1").await;
        world
            .run("begin; update t set v = 'z'; update t set org = ' ' where id = 2; commit")
            .await;
        let error = halted(handle).await;
        let named = ["public.t", "of the new row"];
        assert_says(&error, "tenant_required", &named, tables[0]);
        let rows = world.destination_text("select count(*)::text from t").await;
        assert_eq!(rows, kept.to_string(), "{tables:?}");
        let last = "select string_agg(v, ',' order by v) from t";
        assert_eq!(world.destination_text(last).await, "x,x,y", "{tables:?}");
        drop_slot(&world).await;
    }
}

/// A row that was nobody's before the mirror began has an old side that nobody can tell.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_row_of_nobody_stops_too() {
    for change in [
        "update t set org = 'a' where id = 1",
        "update t set v = 'x' where id = 1",
        "delete from t where id = 1",
    ] {
        let world = World::new(
            "create table t (org text, id int primary key, v text); alter table t replica identity full; \
             insert into t values (null, 1, 'old')",
            "create table t (org text not null, id int primary key, v text, unique (org, id))",
        )
        .await;
        let spec = world.specification(&["t by org"]).await.build();
        let handle = world.start(spec).await;
        world.run(change).await;
        let error = halted(handle).await;
        let side = if change.starts_with("update t set v") {
            "of the new row"
        } else {
            "of the old row"
        };
        assert_says(&error, "tenant_required", &["public.t", side], change);
        assert_eq!(
            rows(&world.destination, "t").await,
            Vec::<Vec<Option<String>>>::new()
        );
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn false_names_no_tenant_and_true_does() {
    let world = World::new(
        "create table t (org bool, id int, primary key (org, id)); alter table t replica identity full",
        "create table t (org bool, id int, primary key (org, id))",
    )
    .await;
    let spec = world.specification(&["t by org"]).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (true, 1)").await;
    world.caught_up().await;
    world.run("insert into t values (false, 2)").await;
    assert_eq!(halted(handle).await.code(), "tenant_required");
    assert_eq!(rows(&world.destination, "t").await.len(), 1);
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_of_any_type_that_compares_are_kept_apart() {
    for (ty, one, other) in [
        ("int", "538976288", "2"),
        ("bigint", "1", "2"),
        (
            "uuid",
            "'00000000-0000-0000-0000-000000000001'",
            "'00000000-0000-0000-0000-000000000002'",
        ),
        ("varchar(9)", "'a'", "' a'"),
        ("char(4)", "'a'", "'b'"),
        ("numeric", "1.0", "2"),
        ("date", "'2020-01-01'", "'2020-01-02'"),
    ] {
        let table = format!("create table t (org {ty}, id int, v text, primary key (org, id))");
        let source = format!("{table}; alter table t replica identity full");
        Scenario::new(&source, &table, &["t"])
            .mirrors_declared(
                &[
                    &format!("insert into t values ({one}, 1, 'x'), ({other}, 1, 'y')"),
                    &format!("update t set v = 'z' where org = {one}"),
                    &format!("begin; delete from t where org = {other}; update t set org = {other} where org = {one}; commit"),
                    "delete from t",
                ],
                |specification| specification.with("t", |t| tenants(t, "org")),
            )
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tenants_need_is_refused_with_the_statement_that_adds_it() {
    let world = World::new(
        "create table t (id int primary key, org text, v text)",
        "create table t (id int primary key, org text not null, v text)",
    )
    .await;
    let spec = world.specification(&["t by org"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let error = refused(&pipeline).await;
    let named = ["public.t", "replica identity full"];
    assert_says(&error, "source_replica_identity", &named, "the primary key");
    world.run(&shown_statement(&error)).await;
    let error = refused(&pipeline).await;
    let named = ["on \"public\".\"t\" (\"org\", \"id\")"];
    assert_says(&error, "destination_unique_missing", &named, "no index");
    let report = doctor::preflight(&pipeline).await;
    assert_eq!(report.exit_code, 1, "{report:?}");
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
    let repair = shown_statement(&error);
    world.destination.batch_execute(&repair).await.unwrap();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a', 'x')").await;
    world.caught_up().await;
    // A source that stops telling whose its rows were is noticed before the next row.
    world
        .run("alter table t replica identity default; insert into t values (2, 'a', 'y')")
        .await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "schema_change_destructive",
        &["public.t"],
        "flipped",
    );
    drop_slot(&world).await;
}

/// Without anything that tells a tenant, a column that holds one is a column like any other.
#[tokio::test(flavor = "multi_thread")]
async fn a_global_table_without_a_source_of_tenants_is_written_without_regard_to_any() {
    let table = "create table t (id int primary key, org text, v text)";
    Scenario::new(table, table, &["t"])
        .mirrors_declared(
            &[
                "insert into t values (1, 'a', 'x'), (2, null, 'y')",
                "update t set org = null where id = 1",
                "update t set org = 'b' where id = 2",
                "delete from t where id = 1",
            ],
            |specification| {
                specification.with("t", |t| {
                    t.tenancy = Tenancy::Tenanted {
                        strategy: TenancyStrategy::Attribute("org"),
                        reach: TenancyReach::Global,
                        source: None,
                    };
                })
            },
        )
        .await;
}

/// An identity of all tenants needs no index that names the tenant, and no row of another one is touched by it.
#[tokio::test(flavor = "multi_thread")]
async fn an_identity_of_all_tenants_finds_rows_of_its_own_tenant_only() {
    let source = "create table t (id int primary key, org text, code int unique, v text); \
        alter table t replica identity full";
    let destination =
        "create table t (id int, org text not null, code int not null unique, v text)";
    let of_code = |t: &mut ResourceSpec| {
        tenants(t, "org");
        t.primary_key = &[];
        t.identities = const {
            &[IdentitySpec {
                reach: IdentityReach::AllTenants,
                ..IdentitySpec::new("by_code", &["code"])
            }]
        };
        t.upsert_identity = Some("by_code");
    };
    let source_not_null = format!("{source}; alter table t alter code set not null");
    Scenario::new(&source_not_null, destination, &["t"])
        .mirrors_declared(
            &[
                "insert into t values (1, 'a', 10, 'x'), (2, 'b', 20, 'y')",
                "update t set v = 'z' where code = 10",
                "update t set org = 'b' where code = 10",
                "begin; delete from t where code = 20; update t set code = 20 where code = 10; commit",
                "delete from t where code = 20",
                "insert into t values (3, 'a', 10, 'x')",
            ],
            |specification| specification.with("t", of_code),
        )
        .await;
    // The destination has a row of another tenant that the mirror did not write.
    let world = World::new(&source_not_null, destination).await;
    let spec = world.specification(&["t"]).await.with("t", of_code).build();
    let handle = world.start(spec).await;
    world
        .destination
        .batch_execute("insert into t values (9, 'b', 90, 'theirs')")
        .await
        .unwrap();
    world.run("insert into t values (9, 'a', 90, 'mine')").await;
    let error = halted(handle).await;
    assert_says(&error, "tenant_conflict", &["public.t"], "all tenants");
    assert_eq!(
        world.destination_text("select org || v from t").await,
        "btheirs"
    );
    drop_slot(&world).await;
}

/// A declared identity of a part of the table asks nothing of how rows are found.
#[tokio::test(flavor = "multi_thread")]
async fn an_identity_of_a_part_of_the_table_is_the_destinations_affair() {
    let source = "create table t (id int primary key, org text, code int not null); \
        alter table t replica identity full";
    let destination = "create table t (id int primary key, org text not null, code int not null, unique (org, id)); \
        create unique index on t (org, code) where code > 0";
    Scenario::new(source, destination, &["t"])
        .mirrors_declared(
            &[
                "insert into t values (1, 'a', 1), (2, 'a', 0), (3, 'a', 0), (4, 'b', 1)",
                "update t set code = 5 where id = 1; update t set code = 1 where id = 2",
                "delete from t where code = 0",
            ],
            |specification| {
                specification.with("t", |t| {
                    tenants(t, "org");
                    t.identities = const {
                        &[IdentitySpec {
                            predicate: Some("code > 0"),
                            ..IdentitySpec::new("by_code", &["code"])
                        }]
                    };
                })
            },
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_without_a_key_is_compared_as_a_whole_its_tenant_included() {
    let table = "create table t (org text not null, v text)";
    let source = format!("{table}; alter table t replica identity full");
    Scenario::new(&source, table, &["t"])
        .mirrors_declared(
            &[
                "insert into t values ('a', 'x'), ('a', 'x'), ('b', 'x'), ('b', null)",
                "update t set org = 'b' where ctid = (select min(ctid) from t where org = 'a')",
                "delete from t where ctid = (select min(ctid) from t where org = 'b' and v = 'x')",
                "update t set v = 'y' where org = 'b'",
            ],
            |specification| specification.with("t", |t| tenants(t, "org")),
        )
        .await;
}

/// The tenant stands in another column than the one that tells it.
#[tokio::test(flavor = "multi_thread")]
async fn the_tenant_that_one_column_tells_is_written_into_the_one_that_holds_it() {
    let world = World::new(
        "create table t (id int primary key, org_code varchar(9), v text); alter table t replica identity full",
        "create table t (id int primary key, org_code varchar(9), v text, org text not null, unique (org, id))",
    )
    .await;
    let declare = |t: &mut ResourceSpec| {
        replicant_tests::tenancy::by(t, TenancyStrategy::Attribute("org"), "org_code");
        let stamp = |column: &ColumnSpec| match column.field {
            "org" => ColumnSpec {
                origin: Origin::Stamp,
                ..*column
            },
            _ => *column,
        };
        t.columns = Vec::leak(t.columns.iter().map(stamp).collect());
    };
    let spec = world.specification(&["t"]).await.with("t", declare).build();
    let handle = world.start(spec).await;
    world
        .run("insert into t values (1, 'a', 'x'), (2, 'b', 'y'), (3, ' a', 'z')")
        .await;
    world.run("update t set v = 'w' where id = 2").await;
    world.run("update t set org_code = 'b' where id = 1").await;
    world
        .run("update t set id = 30 where id = 3; insert into t select n, 'c', 'many' from generate_series(100, 900) n")
        .await;
    world
        .run("delete from t where id between 100 and 899")
        .await;
    world.caught_up().await;
    let found = world
        .destination_text(
            "select string_agg(concat_ws('|', id, org_code, v, org), ' ' order by id) from t",
        )
        .await;
    assert_eq!(found, "1|b|x|b 2|b|w|b 30| a|z| a 900|c|many|c");
    handle.stop().await.unwrap();
    // No conversion may make one tenant of two.
    let narrow = "alter table t alter org type varchar(2)";
    world.destination.batch_execute(narrow).await.unwrap();
    let error = refused(&world.pipeline(spec).await).await;
    let named = ["public.t column org", "type text"];
    assert_says(&error, "type_pair_lossy", &named, "too narrow");
    drop_slot(&world).await;
}

/// Rows that were written under one tenant mean something else under another.
#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_whose_tenants_are_told_another_way_is_not_continued() {
    let world = World::new(
        "create table t (id int primary key, org text not null, other text not null); \
         alter table t replica identity full",
        "create table t (id int primary key, org text not null, other text not null, unique (org, id), unique (other, id))",
    )
    .await;
    let declared = async |words: &str| world.specification(&[words]).await.build();
    let handle = world.start(declared("t by org").await).await;
    world.run("insert into t values (1, 'a', 'b')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let before = checkpoint_text(&world).await;
    for words in ["t", "t by other", "t by org in tenant_{}"] {
        let spec = declared(words).await;
        let error = refused(&world.pipeline(spec).await).await;
        let code = "publication_contract_incompatible";
        assert_eq!(error.code(), code, "{words}: {error}");
        let said = error.to_string();
        let reason = match words {
            "t by org in tenant_{}" => "relation_retargeted",
            _ => "tenant_source",
        };
        assert!(said.contains("public.t") && said.contains(reason), "{said}");
        assert_eq!(checkpoint_text(&world).await, before, "{words}");
    }
    let handle = world.start(declared("t by org").await).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}
