//! Declarations with hooks, for mirrors in a test's process and in one of their own.

use replicant_checkpoint::contract::resource::TableName;
use replicant_checkpoint::contract::sink::{CheckpointSpec, SinkSpec};
use replicant_sink::prelude::*;

use crate::World;
use crate::journal::JOURNAL;
use crate::world::{CHECKPOINT_SCHEMA, NUDGE};

/// The tables of [`Shop`] on the source.
pub const SHOP_SOURCE: &str = "create table payment (id bigint primary key, amount bigint not null, note text, body text); \
     alter table payment alter body set storage external; \
     create table line (id bigint primary key, payment_id bigint not null)";

/// The same in the destination, with those that only hooks write.
pub const SHOP_DESTINATION: &str = "create table payment (id bigint primary key, amount bigint not null, note text, body text); \
     create table line (id bigint primary key, payment_id bigint not null); \
     create table receipt (id bigint generated always as identity primary key, payment_id bigint not null, \
         what text not null, seen bigint, operation_key text not null unique); \
     create table tally (payment_id bigint primary key, lines bigint not null)";

/// The declared sink under the slot of a test's world.
pub fn placed<S: SinkDeclaration>(slot: &'static str) -> &'static SinkSpec {
    let ignored = [NUDGE, JOURNAL].map(|table| TableName {
        schema: "public",
        table,
    });
    Box::leak(Box::new(SinkSpec {
        slot_name: slot,
        ignored_sources: Vec::leak([S::SPEC.ignored_sources, &ignored].concat()),
        checkpoint: CheckpointSpec {
            schema: CHECKPOINT_SCHEMA,
            select_grant: None,
        },
        ..S::SPEC
    }))
}

/// An unstarted pipeline of the declared sink between the two databases.
///
/// # Panics
/// When the server does not tell who it is.
pub async fn pipeline<S: SinkDeclaration>(world: &World) -> Pipeline {
    let pipeline = world.pipeline(placed::<S>(world.slot)).await;
    pipeline.with_code(S::CODE)
}

/// A started pipeline of the declared sink that is streaming.
///
/// # Panics
/// When it does not start.
pub async fn start<S: SinkDeclaration>(world: &World) -> Handle {
    let mut handle = pipeline::<S>(world).await.start().await.unwrap();
    handle.ready().await.unwrap();
    handle
}

/// Mirrored, with a receipt for everything that happens to a row.
#[replicant(
    table = "payment",
    on_truncate = mirror,
    actions(
        read,
        destroy(changes(Removed), touches(Receipt)),
        create(accept = all, changes(Trimmed, Wrapped, Paid), validations(NotNegative), touches(Receipt)),
    ),
)]
pub struct Payment {
    #[replicant(primary_key)]
    #[allow(missing_docs)]
    pub id: i64,
    #[allow(missing_docs)]
    pub amount: i64,
    #[allow(missing_docs)]
    pub note: Option<String>,
    #[allow(missing_docs)]
    pub body: Option<String>,
}

/// Mirrored, counted per payment.
#[replicant(
    table = "line",
    actions(
        read,
        destroy(changes(Uncounted), touches(Line, Tally)),
        create(accept = all, changes(Looked, Counted), touches(Payment, Receipt, Tally)),
    ),
)]
pub struct Line {
    #[replicant(primary_key)]
    #[allow(missing_docs)]
    pub id: i64,
    #[allow(missing_docs)]
    pub payment_id: i64,
}

/// What hooks did.
#[replicant(
    auxiliary,
    table = "receipt",
    actions(read, create(record, accept(payment_id, what, seen), changes(Shouted)))
)]
pub struct Receipt {
    #[replicant(primary_key, generated)]
    #[allow(missing_docs)]
    pub id: i64,
    #[allow(missing_docs)]
    pub payment_id: i64,
    #[allow(missing_docs)]
    pub what: String,
    #[allow(missing_docs)]
    pub seen: Option<i64>,
    #[replicant(private)]
    #[allow(missing_docs)]
    pub operation_key: String,
}

/// Lines per payment.
#[replicant(
    auxiliary,
    table = "tally",
    actions(
        read,
        create(open, accept = all, changes(Announced), touches(Receipt)),
        update(set, accept(lines)),
        destroy,
    )
)]
pub struct Tally {
    #[replicant(primary_key)]
    #[allow(missing_docs)]
    pub payment_id: i64,
    #[allow(missing_docs)]
    pub lines: i64,
}

#[allow(missing_docs)]
#[replicant_domain(resources(Payment, Line, Receipt, Tally))]
pub struct ShopDomain;

#[allow(missing_docs)]
#[replicant_checkpoint(schema = "replicant")]
pub struct Positions;

#[allow(missing_docs)]
#[replicant_sink(slot_name = "shop", domains(ShopDomain), checkpoint = Positions)]
pub struct Shop;

macro_rules! hooks {
    ($($name:ident),* $(,)?) => {$(
        #[allow(missing_docs)]
        pub struct $name;
    )*};
}

hooks!(
    Trimmed,
    Wrapped,
    NotNegative,
    Paid,
    Removed,
    Looked,
    Counted,
    Uncounted,
    Shouted,
    Announced
);

impl Change for Trimmed {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let note = changeset.get(Payment::COLUMNS.note)?;
        let note = note.map(|note| note.trim().to_owned());
        changeset.set(Payment::COLUMNS.note, note)
    }
}

/// Sees what [`Trimmed`] left, and leaves alone what the source did not send.
impl Change for Wrapped {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let note = changeset.get(Payment::COLUMNS.note)?;
        changeset.set(Payment::COLUMNS.note, note.map(|note| format!("<{note}>")))?;
        if changeset.is_unchanged(Payment::COLUMNS.body)? {
            return Ok(());
        }
        let body = changeset.get(Payment::COLUMNS.body)?;
        changeset.set(Payment::COLUMNS.body, body.map(|body| format!("[{body}]")))
    }
}

impl Validation for NotNegative {
    fn validate(changeset: &Changeset<'_>) -> Result<(), HookError> {
        match changeset.get(Payment::COLUMNS.amount)? {
            0.. => Ok(()),
            _ => Err(HookError::new("amount_negative")),
        }
    }
}

fn receipt(payment_id: i64, what: &str, seen: Option<i64>) -> Values {
    Values::new()
        .with(Receipt::COLUMNS.payment_id, &payment_id)
        .with(Receipt::COLUMNS.what, &what.to_owned())
        .with(Receipt::COLUMNS.seen, &seen)
}

impl Hook for Paid {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(Payment::COLUMNS.id)?;
        let amount = changeset.get(Payment::COLUMNS.amount)?;
        let values = receipt(id, "paid", Some(amount));
        actions.run(Receipt::ACTIONS.record, values).await
    }
}

impl Hook for Removed {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(Payment::COLUMNS.id)?;
        let values = receipt(id, "removed", None);
        actions.run(Receipt::ACTIONS.record, values).await
    }
}

fn of_payment(id: i64) -> Values {
    Values::new().with(Payment::COLUMNS.id, &id)
}

fn of_tally(payment_id: i64) -> Values {
    Values::new().with(Tally::COLUMNS.payment_id, &payment_id)
}

/// Notes what the payment of a line looks like when the line arrives.
impl Hook for Looked {
    const PARTICIPANTS: &'static [ActionRef] = &[Payment::ACTIONS.read, Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(Line::COLUMNS.payment_id)?;
        let payment = actions.find(Payment::ACTIONS.read, of_payment(id)).await?;
        let seen = match payment {
            Some(payment) => Some(payment.get(Payment::COLUMNS.amount)?),
            None => None,
        };
        let values = receipt(id, "looked", seen);
        actions.run(Receipt::ACTIONS.record, values).await
    }
}

impl Hook for Counted {
    const PARTICIPANTS: &'static [ActionRef] =
        &[Tally::ACTIONS.read, Tally::ACTIONS.open, Tally::ACTIONS.set];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(Line::COLUMNS.payment_id)?;
        let tally = actions.find(Tally::ACTIONS.read, of_tally(id)).await?;
        let (action, lines) = match tally {
            None => (Tally::ACTIONS.open, 1),
            Some(tally) => (Tally::ACTIONS.set, tally.get(Tally::COLUMNS.lines)? + 1),
        };
        let values = of_tally(id).with(Tally::COLUMNS.lines, &lines);
        actions.run(action, values).await
    }
}

impl Hook for Uncounted {
    const PARTICIPANTS: &'static [ActionRef] = &[Line::ACTIONS.read, Tally::ACTIONS.destroy];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        // A delete tells the key; the rest is still there.
        let key = Values::new().with(Line::COLUMNS.id, &changeset.get(Line::COLUMNS.id)?);
        let line = actions.find(Line::ACTIONS.read, key).await?;
        let line = line.ok_or(HookError::new("line_absent"))?;
        let id = line.get(Line::COLUMNS.payment_id)?;
        actions.run(Tally::ACTIONS.destroy, of_tally(id)).await
    }
}

/// A hook of an action that hooks run.
impl Change for Shouted {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let what = changeset.get(Receipt::COLUMNS.what)?;
        changeset.set(Receipt::COLUMNS.what, what.to_uppercase())
    }
}

/// A hook of an action that hooks run, which runs one too.
impl Hook for Announced {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(Tally::COLUMNS.payment_id)?;
        let values = receipt(id, "opened", None);
        actions.run(Receipt::ACTIONS.record, values).await
    }
}
