//! Is a sealed value ever stored in the clear, and can it always be opened where it belongs?

use replicant_checkpoint::contract::resource::{ResourceSpec, Storage};
use replicant_sink::Error;
use replicant_sink::doctor::{self, Verdict};
use replicant_sink::prelude::*;

use replicant_sink::seal::inventory::{KeyState, inventory};
use replicant_sink::seal::vault::Keys;
use replicant_tests::World;
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::ledger::Ledger;
use replicant_tests::refusal::{
    assert_says, drop_slot, has_checkpoint_tables, refused, retrying, slot_exists,
};
use replicant_tests::sealing::{in_the_clear, key, keys, opened, place, seal};
use tokio::sync::watch;

const SECRET: &str = "KoToRi";

const SOURCE: &str = "create table card (id int primary key, owner text unique deferrable, pan text, pin int, note text); \
    alter table card alter pan set storage external";
const DESTINATION: &str = "create table card (id int primary key, owner text unique, encrypted_pan bytea, \
    encrypted_pin bytea, note text)";

async fn sealed(world: &World, tables: &[&str]) -> Pipeline {
    let mut specification = world.specification(tables).await;
    specification.resources.iter_mut().for_each(seal);
    world.pipeline(specification.build()).await
}

fn vault(list: &[(&str, u8)]) -> StaticVault {
    StaticVault::new(keys(list))
}

/// Both sealed columns hold what the source holds, and everything else is equal.
async fn assert_opens(world: &World, keys: &Keyring) {
    for (column, source) in [("encrypted_pan", "pan"), ("encrypted_pin", "pin")] {
        let there = opened(world, keys, ("card", column), "id").await;
        let here = in_the_clear(world, ("card", source), "id").await;
        assert!(there == here, "{column} of {} rows differs", here.len());
    }
    let rest = "select string_agg(concat_ws(',', id, owner, note), ';' order by id) from card";
    let here: Option<String> = world.source.query_one(rest, &[]).await.unwrap().get(0);
    let there: Option<String> = world.destination.query_one(rest, &[]).await.unwrap().get(0);
    assert_eq!(here, there);
}

async fn started(pipeline: &Pipeline) -> Handle {
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    handle
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_to_a_row_its_sealed_values_are_envelopes_that_open() {
    let world = World::new(SOURCE, DESTINATION).await;
    let mut written = Ledger::of_everything(&world.destination).await;
    let keys = keys(&[("a", 1)]);
    let pipeline = sealed(&world, &["card"])
        .await
        .vault(StaticVault::new(keys.clone()));
    let handle = started(&pipeline).await;
    let large = format!(
        "(select string_agg('{SECRET}' || md5(n::text), '') from generate_series(1, 2000) n)"
    );
    for statements in [
        // One row, a NULL, an empty text; then many rows, which are copied.
        format!(
            "insert into card values (1, 'a', '{SECRET}1', 4711, 'n'), (2, 'b', null, null, null), (3, 'c', '', 0, '')"
        ),
        format!(
            "insert into card select n, 'o' || n, '{SECRET}' || n, n, E'tab\\t' || n from generate_series(10, 999) n"
        ),
        format!(
            "update card set pan = '{SECRET}2' where id = 2; update card set pin = pin + 1 where id < 500"
        ),
        "update card set pan = null where id = 1; delete from card where id between 20 and 30"
            .to_owned(),
        // Values the source does not send again, alone and in one group with their first version.
        format!("update card set pan = {large} where id in (40, 41, 42)"),
        "update card set note = 'unchanged' where id in (40, 41, 42)".to_owned(),
        format!(
            "begin; update card set pan = {large} || 'x' where id = 43; update card set note = 'y' where id = 43; commit"
        ),
        // Keys change, and unique values are exchanged, so that rows are deleted and written anew.
        "update card set id = 5000 where id = 40".to_owned(),
        "update card set owner = case id when 41 then 'o42' else 'o41' end where id in (41, 42)"
            .to_owned(),
        // More than a group holds.
        format!(
            "insert into card select n, 'p' || n, repeat('{SECRET}', 100), n, repeat('x', 800) from generate_series(10000, 19999) n"
        ),
    ] {
        world.run(&statements).await;
        world.caught_up().await;
        assert_opens(&world, &keys).await;
    }
    // The server's own record of everything it ever wrote.
    let hexadecimal: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    for transaction in written.read(&world.destination).await {
        for change in transaction.changes {
            for value in [change.old, change.new]
                .into_iter()
                .flatten()
                .flatten()
                .flatten()
            {
                assert!(!value.contains(SECRET) && !value.contains(&hexadecimal));
            }
        }
    }
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// How many salts and how many nonces the envelopes of these rows have, of the key `a`.
async fn salts_and_nonces(world: &World, rows: &str) -> (i64, i64) {
    let query = format!(
        "select count(distinct substr(encrypted_pan, 4, 16)), count(distinct substr(encrypted_pan, 4, 28)) \
         from card where {rows}"
    );
    let row = world.destination.query_one(&query, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sealed_in_one_destination_transaction_shares_a_data_key_with_nothing_else() {
    let world = World::new(SOURCE, DESTINATION).await;
    let pipeline = sealed(&world, &["card"]).await.vault(vault(&[("a", 1)]));
    let handle = started(&pipeline).await;
    for first in [10, 20, 30] {
        world
            .run(&format!(
                "insert into card select n, null, 'p' || n, n, null from generate_series({first}, {first} + 4) n"
            ))
            .await;
        world.caught_up().await;
        let rows = format!("id between {first} and {first} + 4");
        assert_eq!(salts_and_nonces(&world, &rows).await, (1, 5));
    }
    assert_eq!(salts_and_nonces(&world, "true").await, (3, 15));
    assert_opens(&world, &keys(&[("a", 1)])).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_key_seals_and_the_old_one_is_counted_until_it_is_gone() {
    let world = World::new(SOURCE, DESTINATION).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let write = |list: &[String]| std::fs::write(file.path(), list.join("\n")).unwrap();
    write(&[key("first", 1)]);
    let line = format!("[{}]\nkey_file = '{}'", world.slot, file.path().display());
    let pipeline = sealed(&world, &["card"])
        .await
        .configured_by_toml(&line)
        .unwrap();
    let handle = started(&pipeline).await;
    world
        .run("insert into card values (1, 'a', 'x', 1, null), (2, 'b', 'y', null, null)")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();

    write(&[key("first", 1), key("second", 2)]);
    let handle = started(&pipeline).await;
    world.run("update card set pan = 'z' where id = 2").await;
    world.caught_up().await;
    assert_opens(&world, &keys(&[("first", 1), ("second", 2)])).await;
    let counted = inventory(&pipeline).await.unwrap();
    assert_eq!(
        (counted.exit_code, counted.sealing.as_deref()),
        (0, Some("second"))
    );
    let told: Vec<_> = counted
        .columns
        .iter()
        .map(|column| {
            let keys = column.keys.iter();
            let keys = keys.map(|key| (key.key.as_str(), key.rows, key.state));
            (column.column.as_str(), keys.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "encrypted_pan",
                vec![
                    ("first", 1, KeyState::Opens),
                    ("second", 1, KeyState::Seals)
                ]
            ),
            // NULL has no key.
            ("encrypted_pin", vec![("first", 1, KeyState::Opens)]),
        ]
    );
    handle.stop().await.unwrap();

    // A key that left too early, and a value that is no envelope.
    write(&[key("second", 2)]);
    let damage = "update card set encrypted_pin = '\\x0102' where id = 2";
    world.destination.batch_execute(damage).await.unwrap();
    let counted = inventory(&pipeline).await.unwrap();
    assert_eq!(counted.exit_code, 1);
    assert_eq!(counted.columns[0].keys[0].state, KeyState::Missing);
    assert_eq!(counted.columns[1].unreadable, 1);
    drop_slot(&world).await;
}

/// A vault that is away until it is told to be there.
#[derive(Debug)]
struct Away(watch::Receiver<bool>);

impl Vault for Away {
    fn keys(&self) -> Keys<'_> {
        let there = *self.0.borrow();
        Box::pin(async move {
            match there {
                true => Ok(keys(&[("a", 1)])),
                false => Err(Error::vault_unavailable()),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_is_away_is_asked_again_and_nothing_is_written_without_it() {
    let world = World::new(SOURCE, DESTINATION).await;
    let (told, there) = watch::channel(false);
    let pipeline = sealed(&world, &["card"]).await.vault(Away(there));
    let mut handle = pipeline.start().await.unwrap();
    retrying(&handle, "vault_unavailable").await;
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
    told.send(true).unwrap();
    handle.ready().await.unwrap();
    world
        .run("insert into card values (1, 'a', 'x', 1, null)")
        .await;
    world.caught_up().await;
    assert_opens(&world, &keys(&[("a", 1)])).await;
    // It goes away while the mirror runs: the next connection waits for it.
    told.send(false).unwrap();
    let ours = "select pg_terminate_backend(pid) from pg_stat_activity \
        where datname = current_database() and application_name like 'replicant%'";
    world.destination.execute(ours, &[]).await.unwrap();
    world
        .run("insert into card values (2, 'b', 'y', 2, null)")
        .await;
    told.send(true).unwrap();
    world.caught_up().await;
    assert_opens(&world, &keys(&[("a", 1)])).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_opens_by_its_declared_type_and_not_in_another_column() {
    let world = World::new(SOURCE, DESTINATION).await;
    let keys = keys(&[("a", 1)]);
    let pipeline = sealed(&world, &["card"])
        .await
        .vault(StaticVault::new(keys.clone()));
    let handle = started(&pipeline).await;
    world
        .run("insert into card values (1, 'a', 'not a number', 4711, null)")
        .await;
    world.caught_up().await;
    let row = "select encrypted_pan, encrypted_pin from card";
    let row = world.destination.query_one(row, &[]).await.unwrap();
    let (pan, pin): (Vec<u8>, Vec<u8>) = (row.get(0), row.get(1));
    let (of_pan, of_pin) = (
        place("card", "encrypted_pan"),
        place("card", "encrypted_pin"),
    );
    let number = Sealed::<i32>::open(&keys, &of_pin, None, &pin).unwrap();
    assert_eq!(*number.expose(), 4711);
    let moved = Sealed::<String>::open(&keys, &of_pan, None, &pin).unwrap_err();
    assert_eq!(moved.code(), "sealed_value_invalid");
    let tenant = Sealed::<i32>::open(&keys, &of_pin, Some("acme"), &pin).unwrap_err();
    assert_eq!(tenant.code(), "sealed_value_invalid");
    let unfit = Sealed::<i32>::open(&keys, &of_pan, None, &pan).unwrap_err();
    assert_eq!(unfit.code(), "sealed_value_unreadable");
    assert!(!format!("{unfit} {unfit:?} {number:?}").contains("4711"));
    let other = replicant_tests::sealing::keys(&[("b", 1)]);
    let unknown = Sealed::<i32>::open(&other, &of_pin, None, &pin).unwrap_err();
    assert_eq!(unknown.code(), "sealing_key_unknown");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_carries_sealed_values_from_version_to_version() {
    let world = World::new(
        SOURCE,
        &format!(
            "create table card (id int not null, owner text, encrypted_pan bytea, encrypted_pin bytea, note text, {WINDOW}, \
             unique (id, valid_from_lsn)); create unique index on card (id) where valid_to_lsn is null"
        ),
    )
    .await;
    let keys = keys(&[("a", 1)]);
    let pipeline = sealed(&world, &["card: history(id)"])
        .await
        .vault(StaticVault::new(keys.clone()));
    let handle = started(&pipeline).await;
    let large = "(select string_agg(md5(n::text), '') from generate_series(1, 2000) n)";
    world
        .run(&format!(
            "insert into card values (1, 'a', {large}, 1, null)"
        ))
        .await;
    world.caught_up().await;
    world
        .run("update card set note = 'later' where id = 1")
        .await;
    world.caught_up().await;
    world
        .run("begin; update card set pin = 2; update card set note = 'last'; commit")
        .await;
    world.run("update card set pan = 'short'").await;
    world.caught_up().await;
    let at = "valid_from_lsn";
    let pans = opened(&world, &keys, ("card", "encrypted_pan"), at).await;
    let whole: String = world
        .source
        .query_one(&format!("select {large}"), &[])
        .await
        .unwrap()
        .get(0);
    let whole = Some(whole);
    assert!(
        pans == [
            whole.clone(),
            whole.clone(),
            whole,
            Some("short".to_owned())
        ]
    );
    let pins = opened(&world, &keys, ("card", "encrypted_pin"), at).await;
    let pins: Vec<_> = pins.iter().map(|pin| pin.as_deref().unwrap()).collect();
    assert_eq!(pins, ["1", "1", "2", "2"]);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Which key sealed each stored value.
async fn sealed_by(world: &World, column: &str, by: &str) -> Vec<String> {
    let query = format!(
        "select convert_from(substr({column}, 3, get_byte({column}, 1)), 'UTF8') from card order by {by}"
    );
    let rows = world.destination.query(&query, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_carried_after_a_rotation_is_sealed_anew_and_what_no_key_opens_is_carried_as_it_is()
{
    let world = World::new(
        SOURCE,
        &format!(
            "create table card (id int not null, owner text, encrypted_pan bytea, encrypted_pin bytea, note text, {WINDOW}, \
             unique (id, valid_from_lsn)); create unique index on card (id) where valid_to_lsn is null"
        ),
    )
    .await;
    let pipeline = sealed(&world, &["card: history(id)"]).await;
    let with = |list: &[(&str, u8)]| pipeline.clone().vault(vault(list));
    let handle = started(&with(&[("lost", 9)])).await;
    let large = "(select string_agg(md5(n::text), '') from generate_series(1, 2000) n)";
    let insert = |id| format!("insert into card select {id}, '{id}', {large}, 1, null");
    world.run(&insert(1)).await;
    world.caught_up().await;
    handle.stop().await.unwrap();

    let handle = started(&with(&[("old", 1)])).await;
    world.run(&insert(2)).await;
    world.run(&insert(3)).await;
    world.caught_up().await;
    handle.stop().await.unwrap();

    let handle = started(&with(&[("old", 1), ("new", 2)])).await;
    world
        .run("update card set note = 'after' where id < 3")
        .await;
    // Two versions of one transaction's group carry the same value.
    world
        .run("update card set note = 'again' where id < 3")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let at = "id, valid_from_lsn";
    assert_eq!(
        sealed_by(&world, "encrypted_pan", at).await,
        ["lost", "lost", "lost", "old", "new", "new", "old"]
    );
    assert_eq!(
        sealed_by(&world, "encrypted_pin", at).await,
        ["lost", "new", "new", "old", "new", "new", "old"]
    );
    let every = keys(&[("lost", 9), ("old", 1), ("new", 2)]);
    let pans = opened(&world, &every, ("card", "encrypted_pan"), at).await;
    let whole = in_the_clear(&world, ("card", "pan"), "id").await;
    assert!(pans.iter().all(|pan| pan == &whole[0]), "a value changed");
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_value_that_is_written_again_after_a_rotation_is_sealed_anew() {
    let world = World::new(SOURCE, DESTINATION).await;
    let pipeline = sealed(&world, &["card"]).await;
    let with = |list: &[(&str, u8)]| pipeline.clone().vault(vault(list));
    let handle = started(&with(&[("old", 1)])).await;
    let large = "(select string_agg(md5(n::text), '') from generate_series(1, 2000) n)";
    world
        .run(&format!(
            "insert into card select id, 'owner ' || id, {large}, id, null from generate_series(1, 3) id"
        ))
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();

    let handle = started(&with(&[("old", 1), ("new", 2)])).await;
    // Two owners are exchanged: rows are deleted and inserted, with the value that the source did not send.
    world
        .run("begin; set constraints all deferred; update card set owner = 'owner ' || 3 - id where id < 3; commit")
        .await;
    world.caught_up().await;
    assert_opens(&world, &keys(&[("old", 1), ("new", 2)])).await;
    let by = sealed_by(&world, "encrypted_pan", "id").await;
    assert_eq!(by, ["new", "new", "old"]);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_seals_the_values_before_a_change_too() {
    let world = World::new(
        "create table card (id int primary key, pan text); alter table card replica identity full",
        &format!(
            "create table card (id int, encrypted_pan bytea, encrypted_before_pan bytea, {STAMPS}, unique ({AXES}))"
        ),
    )
    .await;
    let keys = keys(&[("a", 1)]);
    let pipeline = sealed(&world, &["card: log"])
        .await
        .vault(StaticVault::new(keys.clone()));
    let handle = started(&pipeline).await;
    world.run("insert into card values (1, 'one')").await;
    world.run("update card set pan = 'two'").await;
    world.run("delete from card").await;
    world
        .run("insert into card select n, 'many' from generate_series(1, 600) n")
        .await;
    world.caught_up().await;
    let at = "commit_lsn, ordinal";
    let text = |value: &str| Some(value.to_owned());
    let pans = opened(&world, &keys, ("card", "encrypted_pan"), at).await;
    assert_eq!(pans[..3], [text("one"), text("two"), text("two")]);
    assert_eq!(pans.len(), 603);
    assert!(pans[3..].iter().all(|pan| *pan == text("many")));
    let before = opened(&world, &keys, ("card", "encrypted_before_pan"), at).await;
    assert_eq!(before[..3], [None, text("one"), text("two")]);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_sealed_or_found_again_does_not_start() {
    let world = World::new(SOURCE, DESTINATION).await;
    let pipeline = sealed(&world, &["card"]).await;
    assert_says(&refused(&pipeline).await, "vault_missing", &[], "no vault");
    let of_vault = async |pipeline: &Pipeline| {
        let report = doctor::preflight(pipeline).await;
        let found = report.checks.iter().find(|check| check.name == "vault");
        found.map(|check| (check.status, check.reason))
    };
    let found = of_vault(&pipeline).await;
    assert_eq!(found, Some((Verdict::Fail, "vault_missing")));
    let kept = of_vault(&pipeline.clone().vault(vault(&[("a", 1)]))).await;
    assert_eq!(kept.map(|(verdict, _)| verdict), Some(Verdict::Pass));
    let absent = pipeline.clone().vault(FileVault::new("/nonexistent/keys"));
    let error = refused(&absent).await;
    assert_says(
        &error,
        "vault_keys_invalid",
        &["option key_file"],
        "no file",
    );

    let with = async |change: &dyn Fn(&mut ResourceSpec)| {
        let mut specification = world.specification(&["card"]).await;
        specification.resources.iter_mut().for_each(seal);
        let spec = specification.with("card", change).build();
        refused(&world.pipeline(spec).await.vault(vault(&[("a", 1)]))).await
    };
    world.run("alter table card replica identity full").await;
    let error = with(&|resource| resource.primary_key = &[]).await;
    let named = ["public.card column encrypted_pan"];
    assert_says(&error, "sealed_column_compared", &named, "no key");
    let error = with(&|resource| {
        let columns = resource.columns.iter().map(|column| {
            let mut column = *column;
            if column.field == "pin" {
                column.storage = Storage::Uuid;
            }
            column
        });
        resource.columns = Vec::leak(columns.collect());
    })
    .await;
    assert_says(
        &error,
        "type_pair_lossy",
        &["encrypted_pin"],
        "broken promise",
    );
    let wrong = "alter table card drop encrypted_pan, add encrypted_pan text";
    world.destination.batch_execute(wrong).await.unwrap();
    let error = refused(&pipeline.clone().vault(vault(&[("a", 1)]))).await;
    let repair = "alter table \"public\".\"card\" alter column \"encrypted_pan\" type bytea";
    assert_says(&error, "type_pair_lossy", &[repair], "not bytes");
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
}
