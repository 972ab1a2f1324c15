//! Hooks and sealed columns: what a hook sets or writes beside a row is sealed like anything else.

use replicant_sink::options::DestinationConstraints;
use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::hooked::{Positions, pipeline};
use replicant_tests::sealing::{keys, opened};

#[replicant(
    table = "card", sensitive(pan),
    actions(read, destroy, create(accept = all, changes(Spaced, Kept), touches(Card, Seen))),
)]
pub struct Card {
    #[replicant(primary_key)]
    pub id: i64,
    #[replicant(encrypted)]
    pub pan: Option<Sealed<String>>,
}

#[replicant(
    auxiliary, table = "seen",
    actions(read, create(accept = all), update(accept(pan)))
)]
pub struct Seen {
    #[replicant(primary_key)]
    pub id: i64,
    #[replicant(encrypted)]
    pub pan: Option<Sealed<String>>,
    pub plain: Option<bool>,
}

#[replicant_domain(resources(Card, Seen))]
pub struct Cards;

#[replicant_sink(slot_name = "cards", domains(Cards), checkpoint = Positions)]
pub struct CardSink;

pub struct Spaced;

impl Change for Spaced {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let pan = changeset.get(Card::COLUMNS.pan)?;
        let pan = pan.map(|pan| Sealed::new(format!("{} ", pan.expose())));
        changeset.set(Card::COLUMNS.pan, pan)
    }
}

pub struct Kept;

impl Hook for Kept {
    const PARTICIPANTS: &'static [ActionRef] = &[
        Card::ACTIONS.read,
        Seen::ACTIONS.read,
        Seen::ACTIONS.create,
        Seen::ACTIONS.update,
    ];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(Card::COLUMNS.id)?;
        let pan = changeset.get(Card::COLUMNS.pan)?;
        let key = Values::new().with(Seen::COLUMNS.id, &id);
        let seen = actions.find(Seen::ACTIONS.read, key.clone()).await?;
        let action = match &seen {
            None => Seen::ACTIONS.create,
            Some(seen) => {
                // What is sealed is not read back, here or from the mirror.
                let closed = Err(HookError::new("value_not_read"));
                assert_eq!(seen.get(Seen::COLUMNS.pan).map(|_| ()), closed);
                assert_eq!(seen.get(Seen::COLUMNS.plain), Ok(None));
                let card = Values::new().with(Card::COLUMNS.id, &id);
                let card = actions.find(Card::ACTIONS.read, card).await?;
                let card = card.ok_or(HookError::new("card_absent"))?;
                assert_eq!(card.get(Card::COLUMNS.pan).map(|_| ()), closed);
                Seen::ACTIONS.update
            }
        };
        actions.run(action, key.with(Seen::COLUMNS.pan, &pan)).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hooks_set_and_write_is_sealed() {
    for constraints in [
        DestinationConstraints::Deferred,
        DestinationConstraints::Trusted,
    ] {
        let world = World::new(
            "create table card (id bigint primary key, pan text)",
            "create table card (id bigint primary key, encrypted_pan bytea); \
             create table seen (id bigint primary key, encrypted_pan bytea, plain boolean)",
        )
        .await;
        let keys = keys(&[("a", 7)]);
        let pipeline = pipeline::<CardSink>(&world)
            .await
            .destination_constraints(constraints)
            .vault(StaticVault::new(keys.clone()));
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        world
            .run("insert into card values (1, '4111'), (2, null); update card set pan = '4222' where id = 1")
            .await;
        world.caught_up().await;
        let cards = opened(&world, &keys, ("card", "encrypted_pan"), "id").await;
        assert_eq!(cards, [Some("4222 ".to_owned()), None]);
        let stored = "select encrypted_pan from seen order by id";
        let rows = world.destination.query(stored, &[]).await.unwrap();
        let place = Place::of::<Seen>("pan").unwrap();
        let open = |row: &tokio_postgres::Row| {
            let envelope: Option<Vec<u8>> = row.get(0);
            envelope.map(|envelope| Sealed::<String>::open(&keys, &place, None, &envelope).unwrap())
        };
        let seen: Vec<_> = rows.iter().map(open).collect();
        let seen: Vec<_> = seen
            .iter()
            .map(|pan| pan.as_ref().map(Sealed::expose))
            .collect();
        assert_eq!(seen, [Some(&"4222 ".to_owned()), None]);
        handle.stop().await.unwrap();
    }
}
