//! Hooks and tenants: a hook knows whose row it sees, and nothing that it does reaches another tenant.

use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::hooked::{Positions, start};
use replicant_tests::refusal::{assert_says, drop_slot, halted};

#[replicant(
    table = "orders",
    multitenancy(strategy = attribute, attribute = org),
    tenant_attribute = org,
    actions(read, destroy, create(accept = all, changes(Noted), touches(Order, Note))),
)]
pub struct Order {
    #[replicant(primary_key)]
    pub id: i64,
    pub org: String,
    pub v: Option<String>,
}

/// How often something happened to an order.
#[replicant(
    auxiliary, table = "note",
    multitenancy(strategy = attribute, attribute = org),
    identity(by_order, keys(order_id)), upsert_identity = by_order,
    actions(read, create(accept = all), update(accept(times, org)))
)]
pub struct Note {
    #[replicant(primary_key, generated)]
    pub id: i64,
    pub org: String,
    pub order_id: i64,
    pub times: i64,
    pub seen: Option<String>,
}

#[replicant_domain(resources(Order, Note))]
pub struct Orders;

#[replicant_sink(slot_name = "orders_of_tenants", domains(Orders), checkpoint = Positions)]
pub struct OrderSink;

pub struct Noted;

impl Hook for Noted {
    const PARTICIPANTS: &'static [ActionRef] = &[
        Order::ACTIONS.read,
        Note::ACTIONS.read,
        Note::ACTIONS.create,
        Note::ACTIONS.update,
    ];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let tenant = changeset.tenant().ok_or(HookError::new("nobody"))?;
        let tenant = tenant.as_str().to_owned();
        assert_eq!(changeset.get(Order::COLUMNS.org)?, tenant);
        let id = changeset.get(Order::COLUMNS.id)?;
        let v = changeset.get(Order::COLUMNS.v)?;
        let key = Values::new().with(Note::COLUMNS.order_id, &id);
        // What another tenant has under the same key is not there.
        let order = Values::new().with(Order::COLUMNS.id, &1_i64);
        let order = actions.find(Order::ACTIONS.read, order).await?;
        let seen = match &order {
            None => None,
            Some(order) => Some(order.get(Order::COLUMNS.org)?),
        };
        let note = actions.find(Note::ACTIONS.read, key.clone()).await?;
        match (v.as_deref(), note) {
            (Some("steal"), _) => {
                let theirs = key.with(Note::COLUMNS.org, &"victim".to_owned());
                let theirs = theirs.with(Note::COLUMNS.times, &0);
                actions.run(Note::ACTIONS.create, theirs).await
            }
            (Some("take over"), _) => {
                let theirs = key.with(Note::COLUMNS.org, &"victim".to_owned());
                let theirs = theirs.with(Note::COLUMNS.times, &0);
                actions.run(Note::ACTIONS.update, theirs).await
            }
            (_, None) => {
                let first = key.with(Note::COLUMNS.times, &1);
                let first = first.with(Note::COLUMNS.seen, &seen);
                actions.run(Note::ACTIONS.create, first).await
            }
            (_, Some(note)) => {
                let times = note.get(Note::COLUMNS.times)? + 1;
                let again = key.with(Note::COLUMNS.times, &times);
                actions.run(Note::ACTIONS.update, again).await
            }
        }
    }
}

const SOURCE: &str = "create table orders (org text not null, id bigint, v text, primary key (org, id)); \
    alter table orders replica identity full";

const DESTINATION: &str = "create table orders (org text not null, id bigint not null, v text, primary key (org, id)); \
    create table note (id bigint generated always as identity primary key, org text not null, \
        order_id bigint not null, times bigint not null, seen text, unique (org, order_id))";

#[tokio::test(flavor = "multi_thread")]
async fn what_hooks_read_and_write_is_the_tenants_of_their_change() {
    let world = World::new(SOURCE, DESTINATION).await;
    let handle = start::<OrderSink>(&world).await;
    world
        .run("insert into orders values ('victim', 1, 'x'), ('evil', 2, 'x'), ('victim', 2, 'x'), ('evil', 1, 'x')")
        .await;
    world
        .run("update orders set v = 'y' where org = 'evil' and id = 1")
        .await;
    world
        .run("update orders set org = 'other' where org = 'evil' and id = 1")
        .await;
    world.caught_up().await;
    let notes = "select string_agg(concat_ws(' ', org, order_id, times, seen), ', ' order by org, order_id) from note";
    let kept = "evil 1 2, evil 2 1, other 1 1, victim 1 1, victim 2 1 victim";
    assert_eq!(world.destination_text(notes).await, kept);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_reaches_for_another_tenant_stops_the_mirror() {
    for attack in ["steal", "take over"] {
        let world = World::new(SOURCE, DESTINATION).await;
        let handle = start::<OrderSink>(&world).await;
        world
            .run("insert into orders values ('victim', 1, 'x')")
            .await;
        world.caught_up().await;
        world
            .run(&format!(
                "insert into orders values ('evil', 1, '{attack}')"
            ))
            .await;
        let error = halted(handle).await;
        let named = ["public.note", "names another tenant"];
        assert_says(&error, "hook_values_refused", &named, attack);
        let notes = "select string_agg(concat_ws(' ', org, order_id, times), ', ') from note";
        assert_eq!(world.destination_text(notes).await, "victim 1 1");
        drop_slot(&world).await;
    }
}

/// The tenant that the row's code names.
pub fn by_code(row: &RowView<'_>, _: &[&str]) -> Result<Tenant, TenantError> {
    Tenant::new(row.text("code")?)
}

#[replicant(
    table = "coded",
    multitenancy(strategy = attribute, attribute = tenant),
    tenant_fn(path = crate::tenants::by_code),
    actions(read, destroy, create(accept = all, changes(Rewritten))),
)]
pub struct Coded {
    #[replicant(primary_key)]
    pub id: i64,
    pub code: String,
    pub v: Option<String>,
    pub tenant: String,
}

#[replicant_domain(resources(Coded))]
pub struct Codes;

#[replicant_sink(slot_name = "codes_of_tenants", domains(Codes), checkpoint = Positions)]
pub struct CodeSink;

pub struct Rewritten;

impl Change for Rewritten {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        if let Some(code) = changeset.get(Coded::COLUMNS.v)? {
            changeset.set(Coded::COLUMNS.code, code)?;
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_changes_what_tells_the_tenant_stops_the_mirror() {
    let world = World::new(
        "create table coded (id bigint primary key, code text not null, v text); \
         alter table coded replica identity full",
        "create table coded (id bigint primary key, code text not null, v text, tenant text not null, \
         unique (tenant, id))",
    )
    .await;
    let handle = start::<CodeSink>(&world).await;
    world
        .run("insert into coded values (1, 'a', null), (2, 'b', 'b')")
        .await;
    world.caught_up().await;
    world.run("insert into coded values (3, 'a', 'b')").await;
    let error = halted(handle).await;
    let named = ["public.coded", "what tells the row's tenant"];
    assert_says(&error, "hook_column_protected", &named, "a tenant");
    let rows = "select string_agg(concat_ws(' ', id, code, tenant), ', ' order by id) from coded";
    assert_eq!(world.destination_text(rows).await, "1 a a, 2 b b");
    drop_slot(&world).await;
}

#[replicant(
    table = "scoped",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org,
    actions(read, destroy, create(accept = all, changes(Counted), touches(Scoped))),
)]
pub struct Scoped {
    #[replicant(primary_key)]
    pub id: i64,
    pub org: String,
    pub v: Option<String>,
}

#[replicant_domain(resources(Scoped))]
pub struct Scopes;

#[replicant_sink(slot_name = "scopes_of_tenants", domains(Scopes), checkpoint = Positions)]
pub struct ScopeSink;

pub struct Counted;

impl Hook for Counted {
    const PARTICIPANTS: &'static [ActionRef] = &[Scoped::ACTIONS.read];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let first = Values::new().with(Scoped::COLUMNS.id, &1_i64);
        let first = actions.find(Scoped::ACTIONS.read, first).await?;
        let seen = match &first {
            None => None,
            Some(first) => Some(first.get(Scoped::COLUMNS.org)?),
        };
        changeset.set(Scoped::COLUMNS.v, seen)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_reads_in_the_schema_of_its_changes_tenant() {
    let world = World::new(
        "create table scoped (org text not null, id bigint, v text, primary key (org, id)); \
         alter table scoped replica identity full",
        "create schema tenant_a; create table tenant_a.scoped (org text not null, id bigint primary key, v text)",
    )
    .await;
    let handle = start::<ScopeSink>(&world).await;
    // The second tenant comes later, and its first row calls a hook.
    let later = "create schema tenant_b; create table tenant_b.scoped (org text not null, id bigint primary key, v text)";
    world.destination.batch_execute(later).await.unwrap();
    world
        .run("insert into scoped values ('b', 2, 'x'), ('a', 1, 'x'), ('b', 3, 'x'), ('a', 2, 'x'), ('b', 1, 'x'), ('b', 4, 'x')")
        .await;
    world.caught_up().await;
    for (tenant, seen) in [("a", "1 2a"), ("b", "1 2 3 4b")] {
        let query = format!(
            "select string_agg(id || coalesce(v, ''), ' ' order by id) from tenant_{tenant}.scoped"
        );
        assert_eq!(world.destination_text(&query).await, seen);
    }
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Who came by, whose own table all tenants share, with what the tenant's other table says of it.
#[replicant(
    table = "visit",
    multitenancy(strategy = attribute, attribute = org),
    tenant_attribute = org,
    actions(read, destroy, create(accept = all, changes(Welcomed), touches(Guest))),
)]
pub struct Visit {
    #[replicant(primary_key)]
    pub id: i64,
    pub org: String,
    pub v: Option<String>,
}

#[replicant(
    table = "guest",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org,
    actions(read, destroy, create(accept = all)),
)]
pub struct Guest {
    #[replicant(primary_key)]
    pub id: i64,
    pub org: String,
}

/// What no hook looks at.
#[replicant(
    table = "bill",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org,
    actions(read, destroy, create(accept = all)),
)]
pub struct Bill {
    #[replicant(primary_key)]
    pub id: i64,
    pub org: String,
}

#[replicant_domain(resources(Visit, Guest, Bill))]
pub struct Visits;

#[replicant_sink(slot_name = "visits_of_tenants", domains(Visits), checkpoint = Positions)]
pub struct VisitSink;

pub struct Welcomed;

impl Hook for Welcomed {
    const PARTICIPANTS: &'static [ActionRef] = &[Guest::ACTIONS.read];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        if changeset.get(Visit::COLUMNS.v)?.is_none() {
            return Ok(());
        }
        let key = Values::new().with(Guest::COLUMNS.id, &changeset.get(Visit::COLUMNS.id)?);
        let guest = actions.find(Guest::ACTIONS.read, key).await?;
        let seen = match guest {
            None => "unknown".to_owned(),
            Some(guest) => guest.get(Guest::COLUMNS.org)?,
        };
        changeset.set(Visit::COLUMNS.v, Some(seen))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_reads_in_a_schema_that_came_after_the_start() {
    let world = World::new(
        "create table visit (org text not null, id bigint, v text, primary key (org, id)); \
         alter table visit replica identity full; \
         create table guest (org text not null, id bigint, primary key (org, id)); \
         alter table guest replica identity full; \
         create table bill (org text not null, id bigint, primary key (org, id)); \
         alter table bill replica identity full",
        "create table visit (org text not null, id bigint not null, v text, primary key (org, id))",
    )
    .await;
    let handle = start::<VisitSink>(&world).await;
    // A tenant without a table is nothing to a hook that does not look.
    world
        .run("insert into visit values ('b', 1, null), ('b', 2, null)")
        .await;
    world.caught_up().await;
    let later = "create schema tenant_b; create table tenant_b.guest (org text not null, id bigint primary key); \
                 insert into tenant_b.guest values ('b', 3); \
                 create table tenant_b.bill (org text not null, id bigint)";
    world.destination.batch_execute(later).await.unwrap();
    world
        .run("insert into visit values ('b', 3, 'x'), ('b', 4, 'x')")
        .await;
    world.caught_up().await;
    let seen = "select string_agg(concat_ws(' ', id, v), ', ' order by id) from visit";
    assert_eq!(world.destination_text(seen).await, "1, 2, 3 b, 4 unknown");
    // The bills are not ready, and no hook needs them. One that looks at a table that does not exist stops.
    world.run("insert into visit values ('c', 1, 'x')").await;
    let error = halted(handle).await;
    let named = ["Welcomed runs"];
    assert_says(&error, "tenant_scope_unknown", &named, "no table");
    drop_slot(&world).await;
}

/// Every change of an order, with what its text was before.
#[replicant(
    source_table = "orders", table = "order_event",
    append_log,
    multitenancy(strategy = attribute, attribute = org),
    tenant_attribute = org,
    identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
    actions(read, create(append, accept = all, changes(Quoted))),
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
    pub id: i64,
    pub org: String,
    pub v: Option<String>,
    #[replicant(before = v)]
    pub v_before: Option<String>,
}

#[replicant_domain(resources(OrderEvent))]
pub struct OrderEvents;

#[replicant_sink(
    slot_name = "order_events_of_tenants", sink_kind = append_log, initial_state = go_forward,
    domains(OrderEvents), checkpoint = Positions,
)]
pub struct OrderEventSink;

pub struct Quoted;

impl Change for Quoted {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let before = changeset.get(OrderEvent::COLUMNS.v_before)?;
        changeset.set(OrderEvent::COLUMNS.v, before)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_of_a_log_is_not_told_what_the_row_was_in_another_tenant() {
    let world = World::new(
        SOURCE,
        "create table order_event (event_id bigint generated always as identity primary key, \
         source_system_id text not null, source_database text not null, slot_name text not null, \
         commit_lsn bigint not null, ordinal bigint not null, operation text not null, origin text not null, \
         snapshot_attempt bytea, id bigint not null, org text not null, v text, v_before text); \
         create unique index on order_event (source_system_id, source_database, slot_name, commit_lsn, ordinal)",
    )
    .await;
    let handle = start::<OrderEventSink>(&world).await;
    world
        .run("insert into orders values ('a', 1, 'secret of a')")
        .await;
    world.run("update orders set v = 'second'").await;
    world.run("update orders set org = 'b'").await;
    world.run("update orders set v = 'third'").await;
    world.caught_up().await;
    let events = "select string_agg(concat_ws(' ', org, operation, v), ', ' order by commit_lsn) from order_event";
    assert_eq!(
        world.destination_text(events).await,
        "a insert, a update secret of a, b update, b update second"
    );
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}
