//! What must the tables that hooks alone write be like, and what must a program hold?

use replicant_sink::doctor::{self, Verdict};
use replicant_sink::hooks::Code;
use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::hooked::{
    Positions, Receipt, SHOP_DESTINATION, SHOP_SOURCE, Shop, Tally, pipeline, placed, start,
};
use replicant_tests::refusal::{
    assert_says, drop_slot, has_checkpoint_tables, refused, shown_statement, slot_exists,
};
use replicant_tests::setups::verdict;

/// What is wrong, the reason, and what its line names.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "drop table receipt",
        "destination_table_missing",
        &["public.receipt", "create table"],
    ),
    (
        "alter table receipt drop column seen",
        "destination_column_missing",
        &["column seen", "add column"],
    ),
    (
        "alter table receipt drop column operation_key",
        "destination_column_missing",
        &["column operation_key"],
    ),
    (
        "alter table receipt alter id drop identity",
        "destination_column_unfilled",
        &["public.receipt", "column id"],
    ),
    (
        "alter table tally add extra int not null",
        "destination_column_unfilled",
        &["public.tally", "column extra"],
    ),
    (
        "alter table receipt alter seen set not null",
        "destination_nullability",
        &["public.receipt", "column seen"],
    ),
    (
        "alter table receipt drop column seen, add seen bigint generated always as (1) stored",
        "destination_generated_column",
        &["public.receipt", "column seen"],
    ),
    (
        "alter table tally drop constraint tally_pkey",
        "destination_unique_missing",
        &["public.tally", "payment_id"],
    ),
    (
        "create function veto() returns trigger language plpgsql as 'begin return null; end'; \
         create trigger veto before insert on receipt for each row execute function veto()",
        "destination_trigger",
        &["public.receipt", "veto"],
    ),
    (
        "create rule away as on insert to receipt do instead nothing",
        "destination_rule",
        &["public.receipt", "away"],
    ),
    (
        "alter table receipt add foreign key (payment_id) references payment",
        "destination_foreign_key",
        &["deferrable"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_could_not_take_what_hooks_write_is_refused_with_the_statement_that_repairs_it()
 {
    for (wrong, code, mentions) in CASES {
        let world = World::new(SHOP_SOURCE, SHOP_DESTINATION).await;
        world.destination.batch_execute(wrong).await.unwrap();
        let pipeline = pipeline::<Shop>(&world).await;
        let error = refused(&pipeline).await;
        assert_says(&error, code, mentions, wrong);
        assert!(!slot_exists(&world).await, "{wrong}");
        assert!(!has_checkpoint_tables(&world).await, "{wrong}");
        let repair = shown_statement(&error);
        if let Err(error) = world.destination.batch_execute(&repair).await {
            panic!("{wrong}: {repair}: {error:?}");
        }
        let mut handle = pipeline.start().await.unwrap();
        if let Err(error) = handle.ready().await {
            panic!("{wrong}: not repaired: {error}");
        }
        world
            .run("insert into payment values (1, 5, null, null); insert into line values (1, 1)")
            .await;
        world.caught_up().await;
        let receipts = "select count(*)::text from receipt";
        assert_eq!(world.destination_text(receipts).await, "3", "{wrong}");
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_a_field_does_not_promise_is_refused() {
    let world = World::new(SHOP_SOURCE, SHOP_DESTINATION).await;
    let wrong = "alter table receipt alter seen type text";
    world.destination.batch_execute(wrong).await.unwrap();
    let error = refused(&pipeline::<Shop>(&world).await).await;
    let mentions = ["public.receipt", "column seen", "up to bigint"];
    assert_says(&error, "type_pair_lossy", &mentions, wrong);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_needs_of_such_a_table_what_its_actions_do() {
    let world = World::new(SHOP_SOURCE, SHOP_DESTINATION).await;
    let role = format!("role_{}", world.slot);
    world
        .destination
        .batch_execute(&format!(
            "create role {role} login; grant create on database {} to {role}; \
             grant select, insert, update, delete on payment, line, tally to {role}",
            world.destination_database
        ))
        .await
        .unwrap();
    let conninfo = world
        .destination_conninfo
        .replace("user=postgres", &format!("user={role}"));
    let pipeline = pipeline::<Shop>(&world).await.destination(conninfo);
    let error = refused(&pipeline).await;
    let mentions = ["public.receipt", "grant select, insert on table"];
    assert_says(&error, "destination_privilege", &mentions, "no privilege");
    let repair = shown_statement(&error);
    world.destination.batch_execute(&repair).await.unwrap();
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run("insert into payment values (1, 5, null, null)")
        .await;
    world.caught_up().await;
    assert_eq!(
        world
            .destination_text("select count(*)::text from receipt")
            .await,
        "1"
    );
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specification_that_names_hooks_needs_the_code_of_exactly_those() {
    let world = World::new(SHOP_SOURCE, SHOP_DESTINATION).await;
    let without = world.pipeline(placed::<Shop>(world.slot)).await;
    let error = refused(&without).await;
    let mentions = ["public.payment", "the hooks of destroy are not given"];
    assert_says(&error, "hook_code_missing", &mentions, "no code");
    assert!(!slot_exists(&world).await);
    let report = doctor::preflight(&without).await;
    let admission = verdict(&report, "admission");
    assert_eq!(admission, (Verdict::Fail, "hook_code_missing"));
    let report = doctor::preflight(&pipeline::<Shop>(&world).await).await;
    assert_eq!(verdict(&report, "admission").0, Verdict::Pass, "{report:?}");
    // The code of another sink is not that of this one.
    let other: &'static [&'static [&'static Code]] = &[&[&Code::NONE; 4]];
    let error = refused(&without.with_code(other)).await;
    assert_eq!(error.code(), "hook_code_missing", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_table_that_hooks_write_belongs_to_one_sink() {
    let copies = "create table line_copy (id bigint primary key, payment_id bigint not null)";
    let world = World::new(SHOP_SOURCE, &format!("{SHOP_DESTINATION}; {copies}")).await;
    let handle = start::<Shop>(&world).await;
    let slot: &'static str = Box::leak(format!("{}_other", world.slot).into_boxed_str());
    let other = world.pipeline(placed::<Other>(slot)).await;
    let error = refused(&other.with_code(Other::CODE)).await;
    assert_says(
        &error,
        "destination_target_claimed",
        &["public."],
        "claimed",
    );
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Has hooks' tables in common with the shop, and nothing else.
#[replicant(
    source_table = "line", table = "line_copy",
    actions(read, destroy, create(accept = all))
)]
pub struct LineCopy {
    #[replicant(primary_key)]
    pub id: i64,
    pub payment_id: i64,
}

#[replicant_domain(resources(LineCopy, Tally, Receipt))]
pub struct Copies;

#[replicant_sink(
    slot_name = "other", domains(Copies), checkpoint = Positions, ignored_sources("public.payment"),
)]
pub struct Other;
