//! Does a random workload, interrupted at random, leave the mirror equal to its source?
//!
//! Every run prints its seed, and `REPLICANT_TEST_SEED` repeats it. A run that fails is reduced to the few transactions
//! that still fail when they are replayed.

use std::time::{Duration, Instant};

use fastrand::Rng;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::compare::rows;
use replicant_tests::refusal::drop_slot;
use replicant_tests::shrink::smallest;

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

/// One source transaction: statements, each in a savepoint, and how it ends.
#[derive(Clone, Debug)]
struct Transaction {
    statements: Vec<Statement>,
    end: &'static str,
}

#[derive(Clone, Debug)]
struct Statement {
    sql: String,
    /// Its savepoint is rolled back although it succeeded.
    undone: bool,
}

impl Transaction {
    fn random(random: &mut Rng) -> Self {
        let statements = (0..random.u32(1..8)).map(|_| Statement {
            undone: random.u32(..6) == 0,
            sql: statement(random),
        });
        Self {
            statements: statements.collect(),
            end: if random.u32(..8) == 0 {
                "rollback"
            } else {
                "commit"
            },
        }
    }

    /// Statements that the source refuses are rolled back to before them.
    async fn run(&self, world: &World) {
        world.run("begin").await;
        for statement in &self.statements {
            let sql = format!("savepoint s; {}", statement.sql);
            let outcome = world.source.batch_execute(&sql).await;
            let end = if statement.undone || outcome.is_err() {
                "rollback to s; release s"
            } else {
                "release s"
            };
            world.run(end).await;
        }
        // A deferred reference may be refused now, which is a rollback too.
        let _ = world.source.batch_execute(self.end).await;
    }
}

/// Random transactions, run and remembered.
struct Workload {
    random: Rng,
    world: World,
    ran: Vec<Transaction>,
}

impl Workload {
    async fn run(&mut self, most: u32) {
        for _ in 0..self.random.u32(1..most) {
            let transaction = Transaction::random(&mut self.random);
            transaction.run(&self.world).await;
            self.ran.push(transaction);
        }
    }

    /// Compares. What fails is reduced by replaying parts of it in worlds of their own, and told.
    async fn equal(&self, handle: Handle) -> Handle {
        match mirrored(&self.world, handle).await {
            Ok(handle) => handle,
            Err(why) => {
                let smallest = reduced(&self.ran, DESTINATION, REDUCING).await;
                panic!(
                    "{why}\nafter {} transactions, of which these fail too when replayed: {smallest:#?}",
                    self.ran.len()
                );
            }
        }
    }
}

/// How long a failure is reduced before it is told.
const REDUCING: Duration = Duration::from_secs(120);

/// Waits for the mirror and compares, or tells what is wrong.
async fn mirrored(world: &World, handle: Handle) -> Result<Handle, String> {
    let mut status = handle.status_changes();
    tokio::select! {
        () = world.caught_up() => {}
        () = async { while status.changed().await.is_ok() {} } => {
            let outcome = handle.stop().await;
            return Err(format!("the mirror stopped: {outcome:?}"));
        }
    }
    for table in TABLES {
        let expected = rows(&world.source, table).await;
        let found = rows(&world.destination, table).await;
        if expected != found {
            return Err(format!("{table}: expected {expected:?}\nfound {found:?}"));
        }
    }
    Ok(handle)
}

/// Is a backlog of these transactions mirrored wrongly?
async fn fails(transactions: &[Transaction], destination: &str) -> bool {
    let world = World::new(SOURCE, destination).await;
    let spec = world.specification(TABLES).await.build();
    world.start(spec).await.stop().await.unwrap();
    for transaction in transactions {
        transaction.run(&world).await;
    }
    let outcome = mirrored(&world, world.start(spec).await).await;
    let failed = outcome.is_err();
    if let Ok(handle) = outcome {
        handle.stop().await.unwrap();
    }
    drop_slot(&world).await;
    failed
}

/// The fewest transactions, and then the fewest statements of each, that still fail.
async fn reduced(
    transactions: &[Transaction],
    destination: &str,
    patience: Duration,
) -> Vec<Transaction> {
    let deadline = Instant::now() + patience;
    let left = || deadline.saturating_duration_since(Instant::now());
    let mut kept = smallest(transactions, left(), async |part: &[Transaction]| {
        fails(part, destination).await
    })
    .await;
    for place in 0..kept.len() {
        let all = kept.clone();
        kept[place].statements = smallest(
            &all[place].statements,
            left(),
            async |part: &[Statement]| {
                let mut tried = all.clone();
                tried[place].statements = part.to_vec();
                fails(&tried, destination).await
            },
        )
        .await;
    }
    kept
}

#[tokio::test(flavor = "multi_thread")]
async fn a_random_workload_interrupted_at_random_is_mirrored() {
    let seed = std::env::var("REPLICANT_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| fastrand::u64(..));
    println!("REPLICANT_TEST_SEED={seed}");
    let mut workload = Workload {
        random: Rng::with_seed(seed),
        world: World::new(SOURCE, DESTINATION).await,
        ran: Vec::new(),
    };
    let spec = workload.world.specification(TABLES).await.build();
    workload.world.start(spec).await.stop().await.unwrap();
    for _ in 0..8 {
        // A backlog, which is applied in groups.
        workload.run(60).await;
        if workload.random.bool() {
            let launch = Launch::default();
            let mut process = MirrorProcess::spawn(PROGRAM, &workload.world, TABLES, launch).await;
            workload.run(150).await;
            process.kill().await;
            workload.run(20).await;
        }
        let handle = workload.equal(workload.world.start(spec).await).await;
        workload.run(30).await;
        let handle = workload.equal(handle).await;
        workload.run(30).await;
        // Stopped with work under way.
        handle.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workload_that_fails_is_reduced_to_the_statement_that_breaks_it() {
    // A destination that is stricter than its source.
    let strict = format!("{DESTINATION}; alter table bag add check (t is distinct from 'bad')");
    let mut random = Rng::with_seed(7);
    let mut all: Vec<_> = (0..12).map(|_| Transaction::random(&mut random)).collect();
    let bad = Statement {
        sql: "insert into bag values (77, 'bad')".to_owned(),
        undone: false,
    };
    let ok = Statement {
        sql: "insert into bag values (78, 'good')".to_owned(),
        undone: false,
    };
    all[7] = Transaction {
        statements: vec![ok.clone(), bad.clone(), ok],
        end: "commit",
    };
    let smallest = reduced(&all, &strict, REDUCING).await;
    let [Transaction { statements, .. }] = smallest.as_slice() else {
        panic!("one transaction: {smallest:?}");
    };
    let [Statement { sql, .. }] = statements.as_slice() else {
        panic!("one statement: {smallest:?}");
    };
    assert_eq!(*sql, bad.sql);
}
