//! Does a random workload, interrupted at random, leave the mirror equal to its source?
//!
//! Every run prints its seed and its transactions; `REPLICANT_TEST_SEED` repeats one.

use fastrand::Rng;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::compare::assert_equal;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");

const TABLES: &[&str] = &["account", "item", "entry", "bag"];

const SOURCE: &str = "create table account (id int primary key, mail text unique, pos int unique deferrable, \
    v int, big text); alter table account alter big set storage external; \
    create table item (n int, b text, a int, big text, primary key (b, a)); \
    alter table item alter big set storage external; \
    create table entry (id int primary key, account int references account on delete cascade on update cascade, \
    other int references account on delete set null on update cascade deferrable initially deferred, v text); \
    create table bag (a int, t text); alter table bag replica identity full";

const DESTINATION: &str = "create table account (id int primary key, mail text unique, pos int unique deferrable, \
    v int, big text); \
    create table item (n int, b text, a int, big text, primary key (b, a)); \
    create table entry (id int primary key, account int references account deferrable, \
    other int references account deferrable, v text); \
    create table bag (a int, t text)";

/// One random statement. Keys come from a small range, so that statements meet.
fn statement(random: &mut Rng) -> String {
    let (k, l, m) = (random.u32(0..10), random.u32(0..10), random.u32(0..10));
    let v = random.u32(..1000);
    let big = if random.u32(..3) == 0 {
        format!("repeat('{v}x', 3000)")
    } else {
        "null".to_owned()
    };
    match random.u32(..30) {
        0..=3 => format!("insert into account values ({k}, 'm{l}', {m}, {v}, {big})"),
        4 => format!("insert into account values ({k}, null, null, {v}, {big})"),
        5..=6 => format!("update account set v = {v} where id between {k} and {l}"),
        7 => format!("update account set big = {big} where id = {k}"),
        8 => format!("update account set id = {l} where id = {k}"),
        9 => format!(
            "update account set id = -1 where id = {k}; update account set id = {k} where id = {l}; \
             update account set id = {l} where id = -1"
        ),
        10 => format!(
            "update account set mail = 'tmp' where id = {k}; update account set mail = 'm{m}' where id = {l}; \
             update account set mail = null where mail = 'tmp'"
        ),
        11 => "update account set pos = 9 - pos".to_owned(),
        12..=13 => format!("delete from account where id = {k}"),
        14 => format!(
            "delete from account where id = {k}; insert into account values ({k}, 'm{l}', {m}, {v}, {big})"
        ),
        15..=16 => format!("insert into item values ({v}, 'b{k}', {l}, {big})"),
        17 => format!("update item set n = {v} where a = {k}"),
        18 => format!("update item set a = {l}, n = {v} where b = 'b{k}' and a = {m}"),
        19 => format!("delete from item where a = {k}"),
        20..=22 => format!("insert into entry values ({k}, {l}, {m}, 'e{v}')"),
        23 => format!("update entry set account = {l}, other = null where id = {k}"),
        24 => format!("delete from entry where id = {k}"),
        25..=26 => format!("insert into bag values ({k}, 't{l}'), ({k}, 't{l}'), (null, null)"),
        27 => format!("delete from bag where ctid = (select min(ctid) from bag where a = {k})"),
        28 => format!("update bag set t = 't{l}' where a = {k}"),
        _ => match random.u32(..6) {
            0 => "truncate item".to_owned(),
            1 => "truncate account cascade".to_owned(),
            2 => "truncate bag restart identity".to_owned(),
            _ => format!(
                "insert into item select {v}, 'many', n, null from generate_series(100, 300) n on conflict do nothing"
            ),
        },
    }
}

/// Runs one random transaction; statements that the source refuses are rolled back to before them.
async fn transaction(world: &World, random: &mut Rng) {
    let mut log = String::from("begin");
    world.run("begin").await;
    for _ in 0..random.u32(1..8) {
        let undone = random.u32(..6) == 0;
        let statement = statement(random);
        let outcome = world
            .source
            .batch_execute(&format!("savepoint s; {statement}"))
            .await;
        let end = if undone || outcome.is_err() {
            "rollback to s; release s"
        } else {
            "release s"
        };
        log = format!("{log}; savepoint s; {statement}; {end}");
        world.run(end).await;
    }
    let end = if random.u32(..8) == 0 {
        "rollback"
    } else {
        "commit"
    };
    // A deferred reference may be refused now, which is a rollback too.
    let outcome = world.source.batch_execute(end).await;
    println!(
        "{log}; {end}{}",
        if outcome.is_err() { " -- refused" } else { "" }
    );
}

async fn transactions(world: &World, random: &mut Rng, most: u32) {
    for _ in 0..random.u32(1..most) {
        transaction(world, random).await;
    }
}

/// Compares, or tells why the mirror stopped instead.
async fn equal(world: &World, handle: Handle) -> Handle {
    let mut status = handle.status_changes();
    tokio::select! {
        () = assert_equal(world, TABLES) => handle,
        () = async { while status.changed().await.is_ok() {} } => {
            handle.stop().await.unwrap();
            unreachable!("nobody stopped it");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_random_workload_interrupted_at_random_is_mirrored() {
    let seed = std::env::var("REPLICANT_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| fastrand::u64(..));
    println!("REPLICANT_TEST_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let world = World::new(SOURCE, DESTINATION).await;
    let spec = world.specification(TABLES).await.build();
    world.start(spec).await.stop().await.unwrap();
    for _ in 0..8 {
        // A backlog, which is applied in groups.
        transactions(&world, &mut random, 60).await;
        if random.bool() {
            let mut process =
                MirrorProcess::spawn(PROGRAM, &world, TABLES, Launch::default()).await;
            transactions(&world, &mut random, 150).await;
            process.kill().await;
            transactions(&world, &mut random, 20).await;
        }
        let handle = equal(&world, world.start(spec).await).await;
        transactions(&world, &mut random, 30).await;
        let handle = equal(&world, handle).await;
        transactions(&world, &mut random, 30).await;
        // Stopped with work under way.
        handle.stop().await.unwrap();
    }
}
