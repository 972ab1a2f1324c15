//! Hooks of a history and of a log.

use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::hooked::{Positions, pipeline, start};
use replicant_tests::rewind::{forget_slot, keep_slot, rewind};

const RECEIPT: &str = "create table receipt (id bigint generated always as identity primary key, payment_id bigint, \
    what text not null, operation_key text not null unique)";

const RECEIPTS: &str = "select coalesce(string_agg(concat_ws(' ', payment_id, what), ', ' order by id), '') from receipt";

#[replicant(
    auxiliary,
    table = "receipt",
    identity(once, keys(operation_key)),
    upsert_identity = once,
    actions(create(record, accept(payment_id, what)))
)]
pub struct Receipt {
    #[replicant(primary_key, generated)]
    pub id: i64,
    pub payment_id: Option<i64>,
    pub what: String,
    #[replicant(private)]
    pub operation_key: String,
}

async fn record(
    actions: &mut Actions<'_>,
    payment_id: Option<i64>,
    what: &str,
) -> Result<(), HookError> {
    let values = Values::new()
        .with(Receipt::COLUMNS.payment_id, &payment_id)
        .with(Receipt::COLUMNS.what, &what.to_owned());
    actions.run(Receipt::ACTIONS.record, values).await
}

/// Every version of a payment.
#[replicant(
    source_table = "payment", table = "payment_version",
    history_strategy = scd2, history_business_key(payment_id),
    identity(version_key, keys(payment_id, valid_from_lsn)), upsert_identity = version_key,
    on_truncate = close,
    actions(
        read, destroy,
        create(accept = all, changes(Masked, Opened), touches(Receipt)),
        update(close_version, accept(valid_to_lsn), changes(Closed), touches(Receipt)),
    ),
)]
pub struct PaymentVersion {
    #[replicant(primary_key, generated)]
    pub version_id: i64,
    #[replicant(source = "id")]
    pub payment_id: i64,
    pub note: Option<String>,
    pub body: Option<String>,
    pub valid_from_lsn: i64,
    pub valid_to_lsn: Option<i64>,
}

#[replicant_domain(resources(PaymentVersion, Receipt))]
pub struct VersionDomain;

#[replicant_sink(slot_name = "versions", domains(VersionDomain), checkpoint = Positions)]
pub struct VersionSink;

pub struct Masked;

impl Change for Masked {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        changeset.set(PaymentVersion::COLUMNS.note, Some("masked".to_owned()))
    }
}

pub struct Opened;

impl Hook for Opened {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        // The window is made when the version is written.
        let window = changeset.get(PaymentVersion::COLUMNS.valid_from_lsn);
        assert_eq!(window, Err(HookError::new("value_made_later")));
        let id = changeset.get(PaymentVersion::COLUMNS.payment_id)?;
        record(actions, Some(id), "opened").await
    }
}

pub struct Closed;

impl Hook for Closed {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(PaymentVersion::COLUMNS.payment_id)?;
        record(actions, Some(id), "closed").await
    }
}

const PAYMENT: &str = "create table payment (id bigint primary key, note text, body text); \
    alter table payment alter body set storage external";

#[tokio::test(flavor = "multi_thread")]
async fn a_history_runs_the_create_for_each_version_and_the_closing_action_for_each_end() {
    let destination = format!(
        "create table payment_version (version_id bigint generated always as identity primary key, \
         payment_id bigint not null, note text, body text, valid_from_lsn bigint not null, valid_to_lsn bigint); \
         create unique index on payment_version (payment_id, valid_from_lsn); \
         create unique index on payment_version (payment_id) where valid_to_lsn is null; {RECEIPT}"
    );
    let world = World::new(PAYMENT, &destination).await;
    start::<VersionSink>(&world).await.stop().await.unwrap();
    keep_slot(&world).await;
    let handle = start::<VersionSink>(&world).await;
    for transaction in [
        "insert into payment values (1, 'a', repeat('x', 5000))",
        "update payment set note = 'b'",
        // Two versions of one key in one transaction are one, and each change of it is a change.
        "begin; update payment set note = 'c'; update payment set note = 'd'; commit",
        "update payment set id = 2",
        "delete from payment",
        "insert into payment values (3, null, null); truncate payment",
    ] {
        world.run(transaction).await;
    }
    world.caught_up().await;
    let expected = "1 opened, 1 closed, 1 opened, 1 closed, 1 opened, 1 closed, 1 opened, \
                    1 closed, 2 opened, 2 closed, 3 opened";
    assert_eq!(world.destination_text(RECEIPTS).await, expected);
    let versions = "select string_agg(concat_ws(' ', payment_id, note, length(body), \
                    case when valid_to_lsn is null then 'open' end), ', ' order by version_id) from payment_version";
    let told = "1 masked 5000, 1 masked 5000, 1 masked 5000, 2 masked 5000, 3 masked";
    assert_eq!(world.destination_text(versions).await, told);
    handle.stop().await.unwrap();
    // What the history has from before a reset, its hooks did then.
    rewind(&world, &pipeline::<VersionSink>(&world).await).await;
    let handle = start::<VersionSink>(&world).await;
    world
        .run("insert into payment values (4, null, null)")
        .await;
    world.caught_up().await;
    assert_eq!(
        world.destination_text(RECEIPTS).await,
        format!("{expected}, 4 opened")
    );
    assert_eq!(
        world.destination_text(versions).await,
        format!("{told}, 4 masked open")
    );
    handle.stop().await.unwrap();
    forget_slot(&world).await;
}

/// Every change of a payment.
#[replicant(
    source_table = "payment", table = "payment_event",
    append_log, append_unchanged_attribute = unchanged,
    on_truncate = append,
    identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
    actions(read, create(append, accept = all, changes(Hidden, Appended), touches(Receipt))),
)]
pub struct PaymentEvent {
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
    pub unchanged: Vec<String>,
    pub id: Option<i64>,
    pub note: Option<String>,
    pub body: Option<String>,
    #[replicant(before = body)]
    pub body_before: Option<String>,
}

#[replicant_domain(resources(PaymentEvent, Receipt))]
pub struct EventDomain;

#[replicant_sink(
    slot_name = "events", sink_kind = append_log, initial_state = go_forward,
    domains(EventDomain), checkpoint = Positions,
)]
pub struct EventSink;

pub struct Hidden;

impl Change for Hidden {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let note = changeset.get(PaymentEvent::COLUMNS.note)?;
        changeset.set(
            PaymentEvent::COLUMNS.note,
            note.map(|_| "hidden".to_owned()),
        )
    }
}

pub struct Appended;

impl Hook for Appended {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(PaymentEvent::COLUMNS.id)?;
        let before = changeset.get(PaymentEvent::COLUMNS.body_before)?;
        let what = before.map_or("appended", |_| "appended again");
        record(actions, id, what).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_runs_its_append_action_for_every_event_that_has_a_row() {
    let destination = format!(
        "create table payment_event (event_id bigint generated always as identity primary key, \
         source_system_id text not null, source_database text not null, slot_name text not null, \
         commit_lsn bigint not null, ordinal bigint not null, operation text not null, origin text not null, \
         snapshot_attempt bytea, unchanged text[], id bigint, note text, body text, body_before text); \
         create unique index on payment_event (source_system_id, source_database, slot_name, commit_lsn, ordinal); \
         {RECEIPT}"
    );
    let world = World::new(
        &format!("{PAYMENT}; alter table payment replica identity full"),
        &destination,
    )
    .await;
    start::<EventSink>(&world).await.stop().await.unwrap();
    keep_slot(&world).await;
    let handle = start::<EventSink>(&world).await;
    world
        .run(
            "begin; insert into payment values (1, 'a', repeat('x', 5000)); update payment set note = 'b'; commit; \
             update payment set id = 2; delete from payment; truncate payment",
        )
        .await;
    world.caught_up().await;
    let told = "1 appended, 1 appended again, 2 appended again, 2 appended again";
    assert_eq!(world.destination_text(RECEIPTS).await, told);
    let events = "select string_agg(concat_ws(' ', operation, id, note, length(body), length(body_before), \
                  unchanged::text), ', ' order by commit_lsn, ordinal) from payment_event";
    assert_eq!(
        world.destination_text(events).await,
        "insert 1 hidden 5000 {}, update 1 hidden 5000 5000 {body}, update 2 hidden 5000 5000 {body}, \
         delete 2 hidden 5000 5000 {}, truncate {}"
    );
    handle.stop().await.unwrap();
    // A log knows its events again, and a receipt that is found by its operation key replaces itself.
    rewind(&world, &pipeline::<EventSink>(&world).await).await;
    let handle = start::<EventSink>(&world).await;
    world.caught_up().await;
    assert_eq!(world.destination_text(RECEIPTS).await, told);
    handle.stop().await.unwrap();
    forget_slot(&world).await;
}
