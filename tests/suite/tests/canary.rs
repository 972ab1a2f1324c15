//! Does a value ever leave through anything we say? A canary in every column, in passwords and in the server's words.

use replicant_checkpoint::contract::resource::Fidelity;
use replicant_sink::doctor;
use replicant_sink::prelude::*;
use replicant_sink::seal::inventory::inventory;
use replicant_tests::World;
use replicant_tests::canary::{
    DIGITS, TEXT, assert_silent, heard_is_listening, note, note_visible,
};
use replicant_tests::compare::assert_equal;
use replicant_tests::listen::{Heard, unheard};
use replicant_tests::refusal::{drop_slot, halted, refused, retrying};
use replicant_tests::sealing;

const TABLE: &str = "create table c (id text primary key, n numeric, big text, j jsonb, b bytea, a text[], p point);
    alter table c alter column big set storage external";

/// A row with the canary in every column, its key included.
fn row(key: &str) -> String {
    format!(
        "('{TEXT}{key}', {DIGITS}.25, repeat('{TEXT}', 1000), '{{\"{TEXT}\": [\"{TEXT}\", {DIGITS}]}}', \
         '{TEXT}', array['{TEXT}', null, '{TEXT},\"'], point({DIGITS}, 1))"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_leaves_through_logs_metrics_errors_sessions_or_checkpoint() {
    let all = Heard::everything();
    heard_is_listening(&all);
    unheard(values_stay_in(&all)).await;
}

/// The whole life of mirrors that succeed and fail; they run in tasks of their own, which are heard.
async fn values_stay_in(all: &Heard) {
    let heard = Heard::default();
    let mut offset = all.text().len();
    let mut rest = |when: &str| {
        let said = all.text().split_off(offset);
        offset += said.len();
        assert!(
            said.contains("log DEBUG tokio_postgres"),
            "{when}: the client library is not heard"
        );
        assert_silent(&said, when);
        assert_silent(&heard.text(), when);
    };

    let world = World::same(TABLE).await;
    let spec = world.specification(&["c"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run(&format!(
            "insert into c values {}, {}, {};
             update c set n = n + 1; update c set id = id || 'moved' where id = '{TEXT}2'; delete from c where id = '{TEXT}3'",
            row("1"),
            row("2"),
            row("3")
        ))
        .await;
    assert_equal(&world, &["c"]).await;
    let there = world
        .destination_text("select string_agg(id || n || big, '') from c")
        .await;
    assert!(
        there.contains(TEXT) && there.contains("270415926536"),
        "the rows hold it"
    );
    note_visible(&heard, &world).await;
    heard.note(&format!(
        "{handle:?} {pipeline:?} {:?} {:?}",
        handle.status(),
        handle.progress()
    ));
    handle.stop().await.unwrap();
    rest("while everything is well");

    // The server's own words, in every class of condition, for a refused row.
    let states = [
        "22P02", "23514", "40001", "42501", "53100", "57014", "P0001", "XX000",
    ];
    for (number, state) in states.into_iter().enumerate() {
        let refusal = format!(
            "alter table c drop constraint if exists taste;
             create or replace function taste(id text, big text) returns boolean language plpgsql as $$ begin
               if id = '{TEXT}bad{number}' then
                 raise notice '% %', id, big;
                 raise exception '% %', id, big using errcode = '{state}', detail = big, hint = id, table = id, column = id;
               end if;
               return true;
             end $$;
             alter table c add constraint taste check (public.taste(id, big)) not valid"
        );
        world.destination.batch_execute(&refusal).await.unwrap();
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        world
            .run(&format!(
                "insert into c values {}",
                row(&format!("bad{number}"))
            ))
            .await;
        note(&heard, &halted(handle).await);
        rest(state);
    }
    world
        .destination
        .batch_execute("alter table c drop constraint taste")
        .await
        .unwrap();

    // Real refusals: a check, a unique index, a value that is too long for a type, a row that went missing.
    world
        .destination
        .batch_execute("alter table c add constraint short check (length(big) < 10) not valid")
        .await
        .unwrap();
    fails(
        &heard,
        &world,
        &pipeline,
        &format!("insert into c values {}", row("long")),
        "destination_rejected",
    )
    .await;
    world
        .destination
        .batch_execute("alter table c drop constraint short; delete from c")
        .await
        .unwrap();
    rest("a check");
    drop_slot(&world).await;

    let world = World::new(TABLE, &TABLE.replace("big text", "big varchar(20)")).await;
    let spec = world
        .specification(&["c"])
        .await
        .with("c", |resource| {
            let mut columns = resource.columns.to_vec();
            columns
                .iter_mut()
                .filter(|one| one.target == "big")
                .for_each(|one| one.fidelity = Fidelity::Lossy);
            resource.columns = Vec::leak(columns);
        })
        .build();
    let pipeline = world.pipeline(spec).await;
    fails(
        &heard,
        &world,
        &pipeline,
        &format!("insert into c values {}", row("long")),
        "destination_rejected",
    )
    .await;
    rest("a value that is too long");
    note_visible(&heard, &world).await;
    drop_slot(&world).await;

    let world = World::same(TABLE).await;
    world
        .destination
        .batch_execute(&format!(
            "create unique index one on c (n); insert into c values {}",
            row("own")
        ))
        .await
        .unwrap();
    let spec = world.specification(&["c"]).await.build();
    let pipeline = world.pipeline(spec).await;
    fails(
        &heard,
        &world,
        &pipeline,
        &format!("insert into c values {}", row("conflict")),
        "destination_unique_conflict",
    )
    .await;
    rest("a unique conflict");
    world
        .destination
        .batch_execute("delete from c; drop index one")
        .await
        .unwrap();
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    assert_equal(&world, &["c"]).await;
    handle.stop().await.unwrap();
    world
        .destination
        .batch_execute("delete from c")
        .await
        .unwrap();
    fails(
        &heard,
        &world,
        &pipeline,
        &format!("update c set n = {DIGITS}"),
        "row_incomplete",
    )
    .await;
    rest("a row that went missing");
    drop_slot(&world).await;

    sealed_values_stay_in(&heard).await;
    rest("sealed columns");
}

/// What is sealed, what seals it, and every way in which either fails.
async fn sealed_values_stay_in(heard: &Heard) {
    let world = World::new(
        "create table c (id int primary key, pan text, raw bytea)",
        "create table c (id int primary key, encrypted_pan bytea, encrypted_raw bytea)",
    )
    .await;
    let mut specification = world.specification(&["c"]).await;
    specification.resources.iter_mut().for_each(sealing::seal);
    let unsealed = world.pipeline(specification.build()).await;
    note(heard, &refused(&unsealed).await);
    let secret: String = TEXT.bytes().map(|byte| format!("{byte:02x}")).collect();
    let secret = format!("a={}", &secret.repeat(6)[..64]);
    let keys = Keyring::parse(&secret).unwrap();
    note(heard, &Keyring::parse(&secret[..40]).unwrap_err());
    let pipeline = unsealed.vault(StaticVault::new(keys.clone()));
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run(&format!("insert into c values (1, '{TEXT}', '{TEXT}')"))
        .await;
    world.caught_up().await;
    heard.note(&format!("{handle:?} {pipeline:?} {keys:?}"));
    note_visible(heard, &world).await;
    // Nothing readable at rest, whichever way it is read.
    heard.note(&world.destination_text("select c::text from c").await);
    let both = "select encode(encrypted_pan || encrypted_raw, 'escape') from c";
    heard.note(&world.destination_text(both).await);
    handle.stop().await.unwrap();
    let stored = "select encrypted_pan from c";
    let envelope: Vec<u8> = world
        .destination
        .query_one(stored, &[])
        .await
        .unwrap()
        .get(0);
    let place = sealing::place("c", "encrypted_raw");
    let moved = Sealed::<String>::open(&keys, &place, None, &envelope);
    note(heard, &moved.unwrap_err());
    let place = sealing::place("c", "encrypted_pan");
    let opened = Sealed::<String>::open(&keys, &place, None, &envelope).unwrap();
    assert_eq!(opened.expose(), TEXT);
    heard.note(&format!("{opened:?}"));
    let unfit = Sealed::<i32>::open(&keys, &place, None, &envelope);
    note(heard, &unfit.unwrap_err());
    let counted = inventory(&pipeline).await.unwrap();
    heard.note(&serde_json::to_string(&counted).unwrap());
    // A row that the destination refuses, whose detail the server's log has.
    let refusal = "alter table c add constraint short check (length(encrypted_pan) < 10) not valid";
    world.destination.batch_execute(refusal).await.unwrap();
    let another = format!("insert into c values (2, '{TEXT}', '{TEXT}')");
    fails(heard, &world, &pipeline, &another, "destination_rejected").await;
    let log = std::fs::read_to_string(world.cluster.log()).unwrap();
    let mut detailed = log
        .lines()
        .filter(|line| line.contains("Failing row contains (2"));
    heard.note(detailed.next().expect("the server's log has the row"));
    drop_slot(&world).await;
}

/// Runs a change that the destination must refuse.
async fn fails(heard: &Heard, world: &World, pipeline: &Pipeline, sql: &str, code: &str) {
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run(sql).await;
    let error = halted(handle).await;
    note(heard, &error);
    assert_eq!(error.code(), code, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_password_or_connection_string_is_ever_repeated() {
    let all = Heard::everything();
    heard_is_listening(&all);
    unheard(passwords_stay_in(&all)).await;
}

async fn passwords_stay_in(all: &Heard) {
    let heard = Heard::default();
    let world = World::same("create table t (id int primary key)").await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let role = format!("role_{}", world.slot);
    world
        .run(&format!(
            "create role {role} login replication password 'other'"
        ))
        .await;
    world
        .cluster
        .access_rule(&format!(
            "host all,replication {role} 127.0.0.1/32 scram-sha-256"
        ))
        .unwrap();
    world.run("select pg_reload_conf()").await;
    let port = world.cluster.port();
    let with_password = |database: &str| {
        format!("postgresql://{role}:{TEXT}@127.0.0.1:{port}/{database}?sslmode=disable")
    };
    let wrong_source = good.clone().source(with_password(&world.source_database));
    let wrong_destination = good
        .clone()
        .destination(with_password(&world.destination_database));
    for pipeline in [&wrong_source, &wrong_destination] {
        heard.note(&format!("{pipeline:?}"));
        note(&heard, &refused(pipeline).await);
        let asked = pipeline.clone();
        let report = tokio::spawn(async move { doctor::preflight(&asked).await })
            .await
            .unwrap();
        heard.note(&serde_json::to_string(&report).unwrap());
    }
    // Nobody listens there: it keeps trying, and says so.
    let nowhere = format!("host=127.0.0.1 port=1 user={TEXT} password={TEXT} dbname={TEXT}");
    let handle = good.clone().source(&nowhere).start().await.unwrap();
    retrying(&handle, "source_unreachable").await;
    heard.note(&format!("{:?}", handle.status()));
    handle.stop().await.unwrap();
    let handle = good.clone().destination(&nowhere).start().await.unwrap();
    retrying(&handle, "destination_unreachable").await;
    handle.stop().await.unwrap();
    // Connection strings that are none.
    for broken in [
        format!("postgresql://{TEXT}:{TEXT}@[::1/{TEXT}"),
        format!("host='{TEXT}"),
        format!("{TEXT}={TEXT}"),
        format!("host=127.0.0.1 port={TEXT}"),
        format!("host=127.0.0.1 sslmode={TEXT}"),
        format!("host=127.0.0.1 options='{TEXT}' sslrootcert=/{TEXT} sslmode=verify-full"),
    ] {
        note(&heard, &refused(&good.clone().source(&broken)).await);
        note(&heard, &refused(&good.clone().destination(&broken)).await);
    }
    assert_silent(&all.text(), "passwords");
    // The source's role and database names are structure, not values; the password is what must not be there.
    assert_silent(&heard.text(), "passwords");
    drop(world);
}

const PANICS: &str = "REPLICANT_TEST_PANICS";

/// Panics with a value when its parent, the test below, says so.
#[test]
fn panics_when_told_to() {
    if std::env::var_os(PANICS).is_some() {
        replicant_cli::withhold_panic_messages();
        let row = vec![TEXT];
        assert!(row.is_empty(), "a dependency shows {row:?}");
    }
}

#[test]
fn a_panic_prints_its_place_and_never_its_message() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "panics_when_told_to", "--nocapture"])
        .env(PANICS, "1")
        .output()
        .unwrap();
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success(), "it did not panic: {said}");
    assert!(
        said.contains("internal error at tests/suite/tests/canary.rs:"),
        "{said}"
    );
    assert_silent(&said, "a panic");
}
