//! Does a function of the host tell the tenants of rows, and does nothing get past one that cannot?
#![allow(missing_docs, reason = "a declaration is named after what it is about")]
#![allow(dead_code, unreachable_pub, reason = "a declaration is read by people")]

use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::compare::rows;
use replicant_tests::refusal::{assert_says, halted, refused};
use replicant_tests::world::DEADLINE;

pub mod tenants {
    use replicant_sink::prelude::*;

    /// Region and organisation. What a skipped column says is a way to fail.
    pub fn of(row: &RowView<'_>, args: &[&str]) -> Result<Tenant, TenantError> {
        let region = args.first().ok_or(TenantError::Unknown)?;
        match row.optional_text("how")? {
            None => Tenant::new(format!("{region}:{}", row.text("org")?)),
            Some("blank") => Tenant::new(" \t"),
            Some("nul") => Tenant::new("a\0b"),
            Some("unknown") => Err(TenantError::Unknown),
            Some("column") => Tenant::new(row.text("no_such_column")?),
            Some("panic") => panic!("a secret"),
            Some(_) => Err(TenantError::Missing),
        }
    }
}

#[replicant(
    table = "t",
    multitenancy(strategy = attribute, attribute = tenant),
    tenant_fn(path = crate::tenants::of, args("eu")),
    skip(how),
    on_truncate = mirror,
    actions(read, destroy, create(accept = all)),
)]
pub struct Row {
    #[replicant(primary_key)]
    pub id: i32,
    pub org: Option<String>,
    pub v: Option<String>,
    pub tenant: String,
}

#[replicant_domain(resources(Row))]
pub struct Rows;
#[replicant_checkpoint(schema = "replicant")]
pub struct RowsCheckpoint;

/// A sink of this name for each test: two pipelines of one process have two slots.
macro_rules! sinks {
    ($($sink:ident: $slot:literal),* $(,)?) => {$(
        #[replicant_sink(
            slot_name = $slot, domains(Rows), checkpoint = RowsCheckpoint, ignored_sources("public.nudge")
        )]
        pub struct $sink;
    )*};
}

sinks! {
    Told: "tenants_told", Failing: "tenants_failing", Sealing: "tenants_sealing", Keeping: "tenants_keeping",
}

const SOURCE: &str = "create table t (id int primary key, org text, v text, how text); \
    alter table t replica identity full";

const DESTINATION: &str = "create table t (id int primary key, org text, v text, tenant text not null, \
    unique (tenant, id))";

/// A world whose waiting looks at the sink's own slot.
async fn world(slot: &'static str) -> World {
    let mut world = World::new(SOURCE, DESTINATION).await;
    world.slot = slot;
    world
}

async fn pipeline<S: SinkDeclaration>(world: &World) -> Pipeline {
    let identity = world.cluster.source_identity(&world.source_database).await;
    Pipeline::of::<S>()
        .source(&world.source_conninfo)
        .destination(&world.destination_conninfo)
        .publication(replicant_tests::world::PUBLICATION)
        .source_identity(&identity.unwrap())
        .go_forward()
}

async fn started(pipeline: &Pipeline) -> Handle {
    let mut handle = pipeline.start().await.unwrap();
    let ready = tokio::time::timeout(DEADLINE, handle.ready());
    ready.await.unwrap().unwrap();
    handle
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_tells_the_tenant_that_is_written() {
    let world = world("tenants_told").await;
    let handle = started(&pipeline::<Told>(&world).await).await;
    world
        .run("insert into t values (1, 'a', 'x', null), (2, 'b', 'y', null)")
        .await;
    world.run("update t set v = 'z' where id = 1").await;
    world.run("update t set org = 'b' where id = 1").await;
    world.run("update t set id = 20 where id = 2").await;
    world
        .run("insert into t select n, 'c', 'many', null from generate_series(100, 900) n")
        .await;
    world
        .run("update t set org = 'd' where id >= 100; delete from t where id > 100")
        .await;
    world.caught_up().await;
    let found = world
        .destination_text(
            "select string_agg(concat_ws('|', id, org, v, tenant), ' ' order by id) from t",
        )
        .await;
    assert_eq!(found, "1|b|z|eu:b 20|b|y|eu:b 100|d|many|eu:d");
    world
        .run("truncate t; insert into t values (1, 'a', 'x', null)")
        .await;
    world.caught_up().await;
    assert_eq!(rows(&world.destination, "t").await.len(), 1);
    handle.stop().await.unwrap();
    replicant_tests::refusal::drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_cannot_tell_stops_with_the_side_and_without_a_value() {
    for (how, code, says) in [
        ("blank", "tenant_required", "of the new row"),
        ("missing", "tenant_required", "of the new row"),
        ("nul", "tenant_resolution_failed", "of the new row"),
        ("unknown", "tenant_resolution_failed", "of the new row"),
        ("column", "tenant_resolution_failed", "of the new row"),
        ("panic", "tenant_resolution_failed", "the function panicked"),
    ] {
        let world = world("tenants_failing").await;
        let pipeline = pipeline::<Failing>(&world).await;
        let handle = started(&pipeline).await;
        world
            .run("insert into t values (1, 'canary', 'kept', null)")
            .await;
        world.caught_up().await;
        world
            .run(&format!(
                "begin; insert into t values (2, 'canary', 'never', null); \
                 insert into t values (3, 'canary', 'canary', '{how}'); commit"
            ))
            .await;
        let error = halted(handle).await;
        assert_says(&error, code, &["public.t", says], how);
        let said = format!("{error} {error:?}");
        assert!(
            !said.contains("canary") && !said.contains("secret"),
            "{said}"
        );
        assert_eq!(rows(&world.destination, "t").await.len(), 1, "{how}");
        replicant_tests::refusal::drop_slot(&world).await;
    }
    // The row as it was is asked too, and after the new one.
    let world = World::new(
        &format!(
            "{SOURCE}; insert into t values (1, 'a', 'x', 'unknown'), (2, 'a', 'x', 'unknown')"
        ),
        DESTINATION,
    )
    .await;
    let world = World {
        slot: "tenants_failing",
        ..world
    };
    let handle = started(&pipeline::<Failing>(&world).await).await;
    world.run("update t set how = null where id = 1").await;
    let error = halted(handle).await;
    let named = ["public.t", "of the old row"];
    assert_says(&error, "tenant_resolution_failed", &named, "the old row");
    assert_eq!(rows(&world.destination, "t").await.len(), 0);
    replicant_tests::refusal::drop_slot(&world).await;
}

/// A specification that a program made names the function and does not have it.
#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_is_only_named_does_not_start() {
    let world = world("tenants_keeping").await;
    let named = world.pipeline(Box::leak(Box::new(Keeping::SPEC))).await;
    let error = refused(&named).await;
    assert_says(
        &error,
        "declaration_invalid",
        &["public.t", "tenant_fn"],
        "named",
    );
}
