//! Can one tenant reach another's rows? Colliding keys and unique values, moves, ciphertexts that are carried over, names
//! that try to be something else, and one poison tenant among many.

use replicant_checkpoint::contract::resource::ResourceSpec;
use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::compare::rows;
use replicant_tests::refusal::{assert_says, drop_slot, halted, refused};
use replicant_tests::sealing::{keys, place, seal};

/// The source keeps tenants apart by its primary key; the destination's primary key and one of its unique indexes hold
/// for all of them.
const SOURCE: &str = "create table t (org text, id int, mail text, v text, primary key (org, id), unique (org, mail)); \
    alter table t replica identity full";

const DESTINATION: &str = "create table t (org text not null, id int not null, mail text unique, v text, \
    constraint t_pkey primary key (id), unique (org, id))";

async fn text(world: &World, query: &str) -> String {
    let row = world.destination.query_one(query, &[]).await.unwrap();
    row.get::<_, Option<String>>(0).unwrap_or_default()
}

/// Everything of the victim, as it must stay.
async fn of_victim(world: &World) -> String {
    let query = "select string_agg(concat_ws('|', id, mail, v), ' ' order by id) from t where org = 'victim'";
    text(world, query).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_another_tenant_has_halts_and_its_row_is_not_touched() {
    for (what, attack, constraint) in [
        (
            "its key",
            "insert into t values ('evil', 1, 'e', 'x')",
            "t_pkey",
        ),
        (
            "its key among many rows",
            "insert into t select 'evil', n, 'e' || n, 'x' from generate_series(0, 600) n",
            "t_pkey",
        ),
        (
            "its key, taken over by a change of key",
            "insert into t values ('evil', 100, 'e', 'x'); update t set id = 1 where org = 'evil'",
            "t_pkey",
        ),
        (
            "its key, inserted, deleted and inserted again",
            "begin; insert into t values ('evil', 1, 'e', 'x'); delete from t where org = 'evil'; \
             insert into t values ('evil', 1, 'e2', 'x'); update t set v = 'y' where org = 'evil'; commit",
            "t_pkey",
        ),
        (
            "its unique value",
            "insert into t values ('evil', 7, 'one', 'x')",
            "t_mail_key",
        ),
        (
            "its unique value by update",
            "insert into t values ('evil', 7, 'e', 'x'); update t set mail = 'one' where org = 'evil'",
            "t_mail_key",
        ),
        (
            "a swap of unique values that only looks like one",
            "begin; insert into t values ('evil', 7, 'e', 'x'), ('evil', 8, 'f', 'x'); \
             update t set mail = 'two' where org = 'evil' and id = 7; \
             update t set mail = 'one' where org = 'evil' and id = 8; commit",
            "t_mail_key",
        ),
        (
            "a move onto its key",
            "insert into t values ('other', 50, 'o', 'x'); update t set org = 'evil', id = 2 where org = 'other'",
            "t_pkey",
        ),
    ] {
        let world = World::new(SOURCE, DESTINATION).await;
        let spec = world.specification(&["t by org"]).await.build();
        let handle = world.start(spec).await;
        world
            .run("insert into t values ('victim', 1, 'one', 'v1'), ('victim', 2, 'two', 'v2')")
            .await;
        world.caught_up().await;
        let before = of_victim(&world).await;
        world.run(attack).await;
        let error = halted(handle).await;
        let named = ["public.t", constraint, "23505"];
        assert_says(&error, "tenant_conflict", &named, what);
        assert_eq!(of_victim(&world).await, before, "{what}");
        drop_slot(&world).await;
    }
}

/// The index of a partition has a name of its own, and so may have one that the table does not have at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_another_tenant_has_in_a_partition_halts_the_same_way() {
    for (index, constraint) in [
        ("create unique index on t (id, mail)", "t_1_id_mail_idx"),
        ("create unique index of_part on t_1 (mail)", "of_part"),
    ] {
        let world = World::new(
            "create table t (org text, id int, mail text, primary key (org, id)); \
             alter table t replica identity full",
            &format!(
                "create table t (org text not null, id int not null, mail text, primary key (org, id)) \
                 partition by range (id); create table t_1 partition of t for values from (0) to (10); {index}"
            ),
        )
        .await;
        let spec = world.specification(&["t by org"]).await.build();
        let handle = world.start(spec).await;
        world.run("insert into t values ('victim', 1, 'one')").await;
        world.caught_up().await;
        world.run("insert into t values ('evil', 1, 'one')").await;
        let error = halted(handle).await;
        let named = ["public.t", constraint, "23505"];
        assert_says(&error, "tenant_conflict", &named, index);
        let left = text(&world, "select string_agg(org || id, ',') from t").await;
        assert_eq!(left, "victim1");
        drop_slot(&world).await;
    }
}

/// The source's constraint is deferrable, so both rows exist for a while and the value is exchanged at last.
#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_value_that_another_tenant_has_halts_at_commit() {
    let world = World::new(
        "create table t (org text, id int, pos int, primary key (org, id)); alter table t replica identity full",
        "create table t (org text not null, id int not null, pos int, primary key (org, id), \
         constraint one_place unique (pos) deferrable)",
    )
    .await;
    let spec = world.specification(&["t by org"]).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values ('victim', 1, 5)").await;
    world.caught_up().await;
    world.run("insert into t values ('evil', 1, 5)").await;
    let error = halted(handle).await;
    let named = ["public.t", "at COMMIT", "one_place"];
    assert_says(&error, "tenant_conflict", &named, "deferred");
    let left = text(&world, "select string_agg(org || pos, ',') from t").await;
    assert_eq!(left, "victim5");
    drop_slot(&world).await;
}

/// Every rung of the ladder is forced while two tenants share keys: temporary values, swaps of unique values through a
/// third one, and swaps that only a deferrable constraint of the source allows.
#[tokio::test(flavor = "multi_thread")]
async fn every_way_of_writing_stays_inside_its_tenant() {
    let source = "create table t (org text, id int, pos int, v text, primary key (org, id), \
        unique (org, pos) deferrable); alter table t replica identity full";
    let destination = "create table t (org text not null, id int not null, pos int, v text, primary key (org, id), \
        unique (org, pos))";
    let world = World::new(source, destination).await;
    let spec = world.specification(&["t by org"]).await.build();
    let handle = world.start(spec).await;
    world
        .run("insert into t select o, n, n, o || n from generate_series(1, 4) n, unnest(array['a', 'b']) o")
        .await;
    for transaction in [
        // Replaced: a row that an upsert meets.
        "begin; delete from t where org = 'a' and id = 1; insert into t values ('a', 1, 1, 'new'); commit",
        // In source order: through a temporary value.
        "begin; update t set pos = -1 where org = 'a' and id = 1; update t set pos = 1 where org = 'a' and id = 2; \
         update t set pos = 2 where org = 'a' and id = 1; commit",
        // Deleted and inserted again: a swap in one statement, of one tenant and then of both.
        "update t set pos = 7 - pos where org = 'a' and pos in (3, 4)",
        "update t set pos = 5 - pos",
        "begin; update t set org = 'c' where org = 'a' and id = 1; \
         update t set org = 'a', pos = 30 where org = 'b' and id = 1; update t set org = 'b', pos = 40 where org = 'c'; commit",
        "begin; update t set pos = 5 - pos where org = 'b'; delete from t where org = 'a' and id = 2; commit",
    ] {
        world.run(transaction).await;
        world.caught_up().await;
        assert_eq!(
            rows(&world.destination, "t").await,
            rows(&world.source, "t").await,
            "{transaction}"
        );
    }
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Tenant texts that try to be SQL, another name, or nothing that can be stored.
const FORGED: &[&str] = &[
    "a'; drop table t; --",
    "a\"; drop schema public cascade; --",
    "../../etc/passwd",
    "public.t",
    "A",
    "a",
    "a ",
    " a",
    "tenant_{}",
    "null",
    "\\N",
    "$1",
    "%s",
    "é",
    "e\u{301}",
    "a\tb\nc",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_tenant_is_a_text_like_any_other() {
    let world = World::new(
        "create table t (org text, id int, v text, primary key (org, id)); alter table t replica identity full",
        "create table t (org text not null, id int not null, v text, primary key (id, org))",
    )
    .await;
    let spec = world.specification(&["t by org"]).await.build();
    let handle = world.start(spec).await;
    for tenant in FORGED {
        let insert = "insert into t values ($1, 1, 'x')";
        world.source.execute(insert, &[tenant]).await.unwrap();
    }
    for tenant in FORGED {
        let update = "update t set v = v || 'y' where org = $1";
        world.source.execute(update, &[tenant]).await.unwrap();
    }
    world.run("delete from t where org = 'a'").await;
    world.caught_up().await;
    assert_eq!(
        rows(&world.destination, "t").await,
        rows(&world.source, "t").await
    );
    assert_eq!(rows(&world.destination, "t").await.len(), FORGED.len() - 1);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

const SEALED_SOURCE: &str = "create table t (org text, id int, pan text, big text, primary key (org, id)); \
    alter table t alter pan set storage external; alter table t replica identity full";

fn sealed(resource: &mut ResourceSpec) {
    seal(resource);
}

async fn envelope(world: &World, tenant: &str) -> Vec<u8> {
    let query = "select encrypted_pan from t where org = $1 order by id desc limit 1";
    let row = world.destination.query_one(query, &[&tenant]).await;
    row.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_opens_for_its_tenant_and_for_nobody_else() {
    let world = World::new(
        SEALED_SOURCE,
        "create table t (org text not null, id int not null, encrypted_pan bytea, big text, primary key (org, id))",
    )
    .await;
    let keys = keys(&[("k", 1)]);
    let spec = world.specification(&["t by org"]).await;
    let spec = spec.with("t", sealed).build();
    let pipeline = world
        .pipeline(spec)
        .await
        .vault(StaticVault::new(keys.clone()));
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run("insert into t values ('a', 1, repeat('4111', 2000), 'x'), ('b', 1, '5222', 'y')")
        .await;
    world.caught_up().await;
    let place = place("t", "encrypted_pan");
    let open = |tenant: Option<&str>, envelope: &[u8]| {
        Sealed::<String>::open(&keys, &place, tenant, envelope)
            .map(|sealed| sealed.expose().clone())
    };
    let (of_a, of_b) = (envelope(&world, "a").await, envelope(&world, "b").await);
    assert_eq!(open(Some("a"), &of_a).unwrap(), "4111".repeat(2000));
    assert_eq!(open(Some("b"), &of_b).unwrap(), "5222");
    // Swapped: what is copied into another tenant's row does not open there, nor without a tenant.
    for (tenant, envelope) in [(Some("a"), &of_b), (Some("b"), &of_a), (None, &of_a)] {
        let error = open(tenant, envelope).unwrap_err();
        assert_eq!(error.code(), "sealed_value_invalid");
    }
    // A row that moves is sealed anew, its large value included, which the source did not send again.
    world
        .run("update t set org = 'c', big = 'moved' where org = 'a'")
        .await;
    world.caught_up().await;
    let moved = envelope(&world, "c").await;
    assert_eq!(open(Some("c"), &moved).unwrap(), "4111".repeat(2000));
    assert!(open(Some("a"), &moved).is_err() && moved != of_a);
    // In place, when nothing but the tenant changes, and back in one transaction.
    world
        .run("begin; update t set org = 'd' where org = 'b'; update t set org = 'b', id = 9 where org = 'd'; commit")
        .await;
    world.caught_up().await;
    let back = envelope(&world, "b").await;
    assert_eq!(open(Some("b"), &back).unwrap(), "5222");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_seals_each_version_for_the_tenant_it_belongs_to() {
    let window = replicant_tests::kept::WINDOW;
    let world = World::new(
        SEALED_SOURCE,
        &format!(
            "create table t (org text not null, id int not null, encrypted_pan bytea, big text, {window}); \
             create unique index on t (org, id, valid_from_lsn); \
             create unique index on t (org, id) where valid_to_lsn is null"
        ),
    )
    .await;
    let keys = keys(&[("k", 1)]);
    let spec = world.specification(&["t by org: history(id)"]).await;
    let spec = spec.with("t", sealed).build();
    let pipeline = world
        .pipeline(spec)
        .await
        .vault(StaticVault::new(keys.clone()));
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    for statement in [
        "insert into t values ('a', 1, repeat('4111', 2000), 'x')",
        "update t set big = 'y'",
        "update t set org = 'b'",
        "begin; update t set big = 'z'; update t set org = 'a'; commit",
        "delete from t",
    ] {
        world.run(statement).await;
        world.caught_up().await;
    }
    let query = "select org, encrypted_pan from t order by valid_from_lsn, org desc";
    let versions = world.destination.query(query, &[]).await.unwrap();
    let place = place("t", "encrypted_pan");
    let mut tenants = Vec::new();
    for version in &versions {
        let (tenant, envelope): (String, Vec<u8>) = (version.get(0), version.get(1));
        let opened = Sealed::<String>::open(&keys, &place, Some(&tenant), &envelope).unwrap();
        assert_eq!(*opened.expose(), "4111".repeat(2000));
        tenants.push(tenant);
    }
    // The last transaction but one opened and closed one in `b` before the row moved.
    assert_eq!(tenants.join(""), "aabba");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Many tenants in one group, one of which cannot be written: the watermark stops exactly before it.
#[tokio::test(flavor = "multi_thread")]
async fn one_poison_tenant_among_many_stops_the_mirror_exactly_before_it() {
    for (poison, code) in [
        ("insert into t values (' ', 1, 'p', 'x')", "tenant_required"),
        (
            "insert into t values ('evil', 5, 'p', 'x')",
            "tenant_conflict",
        ),
    ] {
        let world = World::new(SOURCE, DESTINATION).await;
        let spec = world.specification(&["t by org"]).await.build();
        world.start(spec).await.stop().await.unwrap();
        let mut expected = Vec::new();
        for n in 0..20 {
            if n == 13 {
                world.run(poison).await;
            }
            world
                .run(&format!(
                    "insert into t values ('org{n}', {n}, 'm{n}', 'v')"
                ))
                .await;
            if n < 13 {
                expected.push(format!("org{n}"));
            }
        }
        let error = refused(&world.pipeline(spec).await).await;
        assert_eq!(error.code(), code);
        let kept = text(&world, "select string_agg(org, ',' order by id) from t").await;
        assert_eq!(kept, expected.join(","));
        // Repaired on the source and in the destination's favour, it goes on from there: nothing is lost or twice.
        drop_slot(&world).await;
    }
}
