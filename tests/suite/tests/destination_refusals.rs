//! Is a destination that cannot hold the mirror, or would change it, refused by its own reason, and repaired by what is shown?

use replicant_sink::options::DestinationConstraints::Trusted;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{
    assert_says, drop_slot, halted, positions, refused, shown_statement, slot_exists,
};
use replicant_tests::setups::Repair::{Run, Shown};
use replicant_tests::setups::Side::Destination;
use replicant_tests::setups::{BASE, Case, GOOD, check_all};
use replicant_tests::specification::Specification;

#[tokio::test(flavor = "multi_thread")]
async fn what_the_destination_lacks_is_refused_with_the_statement_that_adds_it() {
    let shown = Case {
        repair: Shown(Destination),
        ..GOOD
    };
    check_all(&[
        Case { what: "no table", destination: "drop table t", code: "destination_table_missing", ..shown },
        Case {
            what: "no column",
            destination: "alter table t drop column v",
            code: "destination_column_missing",
            mentions: &["public.t", "column v", "add column"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "a column nothing fills",
            destination: "alter table t add column w int not null",
            code: "destination_column_unfilled",
            mentions: &["public.t", "column w"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "stricter nullability",
            destination: "alter table t alter column v set not null",
            code: "destination_nullability",
            mentions: &["public.t", "column v"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "a shorter type",
            destination: "alter table t alter column v type varchar(3)",
            code: "type_pair_lossy",
            mentions: &["public.t", "column v"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "a generated column",
            destination: "alter table t drop column v; alter table t add column v text generated always as ('x') stored",
            code: "destination_generated_column",
            mentions: &["public.t", "column v"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "no unique index",
            destination: "alter table t drop constraint t_pkey",
            code: "destination_unique_missing",
            repair: Shown(Destination),
            ..GOOD
        },
    ])
    .await;
}

const FUNCTION: &str =
    "create function f() returns trigger language plpgsql as 'begin return null; end';";

#[tokio::test(flavor = "multi_thread")]
async fn what_would_change_or_veto_rows_is_refused_with_the_statement_that_removes_it() {
    let trigger: &str = Box::leak(
        format!(
            "{FUNCTION} create trigger veto before insert on t for each row execute function f()"
        )
        .into_boxed_str(),
    );
    let after: &str = Box::leak(
        format!(
            "{FUNCTION} create trigger quiet after insert on t for each row execute function f()"
        )
        .into_boxed_str(),
    );
    check_all(&[
        Case {
            what: "a trigger",
            destination: trigger,
            code: "destination_trigger",
            mentions: &["public.t", "veto"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "a rule",
            destination: "create rule r as on delete to t do instead nothing",
            code: "destination_rule",
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "an immediate foreign key to a table outside",
            destination: "create table parent (v text primary key); alter table t add foreign key (v) references parent",
            code: "destination_foreign_key",
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "a foreign key from outside",
            destination: "create table child (t int references t)",
            code: "destination_foreign_key",
            mentions: &["child_t_fkey"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "trust that silences a trigger",
            destination: after,
            constraints: Trusted,
            code: "destination_trust_refused",
            mentions: &["public.t", "quiet"],
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "trust that silences a foreign key",
            destination: "create table parent (v text primary key); alter table t add foreign key (v) references parent deferrable",
            constraints: Trusted,
            code: "destination_trust_refused",
            repair: Shown(Destination),
            ..GOOD
        },
        Case {
            what: "a view",
            destination: "drop table t; create view t as select 1 as id, 'x'::text as v",
            code: "destination_table_kind",
            repair: Run(Destination, "drop view t; create table t (id int primary key, v text)"),
            ..GOOD
        },
        Case {
            what: "inheritance",
            destination: "create table heir () inherits (t)",
            code: "destination_table_kind",
            repair: Run(Destination, "drop table heir"),
            ..GOOD
        },
    ])
    .await;
}

/// Gives a role of this world's own on the shared cluster.
async fn role(world: &World, attributes: &str) -> String {
    let role = format!("role_{}", world.slot);
    world
        .run(&format!("create role {role} login {attributes}"))
        .await;
    role
}

fn as_role(conninfo: &str, role: &str) -> String {
    conninfo.replace("user=postgres", &format!("user={role}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_privilege_the_delivery_role_lacks_is_shown_as_a_grant_that_works() {
    let world = World::same(BASE).await;
    let role = role(&world, "").await;
    let spec = world.specification(&["t"]).await.build();
    let destination = as_role(&world.cluster.conninfo(&world.destination_database), &role);
    let pipeline = world.pipeline(spec).await.destination(destination);
    for privilege in ["select", "insert", "update", "delete"] {
        world
            .destination
            .batch_execute(&format!(
                "grant all on t to {role}; grant usage on schema public to {role}; revoke {privilege} on t from {role}"
            ))
            .await
            .unwrap();
        let error = refused(&pipeline).await;
        let grant = format!("grant {privilege} on table");
        let shown = error.to_string().to_lowercase();
        assert_says(&error, "destination_privilege", &["public.t"], privilege);
        assert!(shown.contains(&grant), "{shown}");
        world
            .destination
            .batch_execute(&shown_statement(&error))
            .await
            .unwrap();
    }
    assert!(!slot_exists(&world).await);
    // Everything on the table is granted; what is left is the place for the checkpoint.
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "checkpoint_refused",
        &["42501"],
        "no place for the checkpoint",
    );
    assert!(!slot_exists(&world).await);
    let grant = format!(
        "grant create on database {} to {role}",
        world.destination_database
    );
    world.destination.batch_execute(&grant).await.unwrap();
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (1, 'a'); update t set v = 'b'; delete from t; insert into t values (2, 'c')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_cannot_write_or_cannot_see_every_row_is_refused() {
    let world = World::same(BASE).await;
    let role = role(&world, "").await;
    world
        .destination
        .batch_execute(&format!(
            "grant all on t to {role}; grant create on database {} to {role}; \
             alter role {role} set default_transaction_read_only = on",
            world.destination_database
        ))
        .await
        .unwrap();
    let spec = world.specification(&["t"]).await.build();
    let destination = as_role(&world.cluster.conninfo(&world.destination_database), &role);
    let pipeline = world.pipeline(spec).await.destination(destination);
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "destination_read_only",
        &["default_transaction_read_only"],
        "read only",
    );
    world
        .destination
        .batch_execute(&shown_statement(&error))
        .await
        .unwrap();

    let secured =
        "alter table t enable row level security; create policy all_rows on t using (id > 0)";
    world.destination.batch_execute(secured).await.unwrap();
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "destination_row_security",
        &["public.t"],
        "row security",
    );
    world
        .destination
        .batch_execute(&shown_statement(&error))
        .await
        .unwrap();

    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (-1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_destination_table_belongs_to_one_sink() {
    let world = World::same(BASE).await;
    let first = world.mirror(&["t"]).await;
    first.stop().await.unwrap();
    let second: &'static str = Box::leak(format!("{}_b", world.slot).into_boxed_str());
    let spec = Specification::of_tables(&world.destination, second, &["t"])
        .await
        .build();
    let before = positions(&world).await;
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "destination_target_claimed",
        &["public.t"],
        "claimed",
    );
    assert_eq!(positions(&world).await, before);
    let slots: i64 = world
        .source
        .query_one(
            "select count(*) from pg_replication_slots where slot_name = $1",
            &[&second],
        )
        .await
        .unwrap()
        .get(0);
    assert_eq!(slots, 0);
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_veto_rows_and_comes_while_a_mirror_runs_stops_it_at_the_first_of_them() {
    let null = "create function f() returns trigger language plpgsql as 'begin return null; end'; ";
    let quiet = |event: &str| {
        format!("{null} create trigger veto before {event} on t for each row execute function f()")
    };
    let cases = [
        (
            "alter table t enable row level security".to_owned(),
            "insert into t values (2, 'b')",
            "destination_privilege",
            "alter table t disable row level security",
        ),
        (
            quiet("insert"),
            "insert into t values (2, 'b')",
            "destination_diverged",
            "drop trigger veto on t",
        ),
        (
            quiet("update"),
            "update t set v = 'b'",
            "destination_diverged",
            "drop trigger veto on t",
        ),
        (
            "create rule r as on update to t do instead nothing".to_owned(),
            "update t set v = 'b'",
            "destination_diverged",
            "drop rule r on t",
        ),
        (
            quiet("delete"),
            "delete from t",
            "destination_diverged",
            "drop trigger veto on t",
        ),
        (
            "create rule r as on delete to t do instead nothing".to_owned(),
            "delete from t where id = 1",
            "destination_diverged",
            "drop rule r on t",
        ),
    ];
    for (veto, change, code, repair) in cases {
        let world = World::same(BASE).await;
        let role = role(&world, "").await;
        let grants = format!(
            "grant all on t to {role}; grant create on database {} to {role}",
            world.destination_database
        );
        world.destination.batch_execute(&grants).await.unwrap();
        let spec = world.specification(&["t"]).await.build();
        let destination = as_role(&world.cluster.conninfo(&world.destination_database), &role);
        let pipeline = world.pipeline(spec).await.destination(destination);
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        world.run("insert into t values (1, 'a')").await;
        world.caught_up().await;
        world.destination.batch_execute(&veto).await.unwrap();
        let before = world.source_position().await;
        world.run(change).await;
        let error = halted(handle).await;
        assert_says(&error, code, &["public.t"], &veto);
        let watermark = positions(&world).await.unwrap().0.unwrap();
        assert!(watermark < before, "{veto}");
        world.destination.batch_execute(repair).await.unwrap();
        let handle = pipeline.start().await.unwrap();
        assert_equal(&world, &["t"]).await;
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}
