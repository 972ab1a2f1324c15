//! Is every source transaction effective exactly once, at whatever step the mirror's process dies?
//!
//! The judge is not the tables alone: the destination's own WAL says which row changes were committed, how often,
//! in which order, and together with which watermark.

use std::collections::HashMap;

use replicant_sink::delivery::failpoint::Step;
use replicant_test_servers::{wait_for, wait_for_true};
use replicant_tests::World;
use replicant_tests::child::MirrorProcess;
use replicant_tests::compare::assert_equal;
use replicant_tests::ledger::{Ledger, Recorded, RecordedChange};
use replicant_tests::world::{CHECKPOINT_SCHEMA, DEADLINE};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");
const TABLES: &[&str] = &["event", "account", "page"];

/// `event` has no key and repeats rows; every row of `account` tells which transaction wrote it last; `page` makes a
/// transaction larger than a group of eight MiB.
const DDL: &str = "create table event (tx bigint not null, note text); \
    alter table event replica identity full; \
    create table account (id int primary key, tx bigint not null, note text); \
    create table page (id int primary key, tx bigint not null, body text)";

/// Traffic, one number per transaction, and what both servers recorded of it.
struct Run {
    world: World,
    next: u64,
    source: Ledger,
    destination: Ledger,
    sent: Vec<Recorded>,
    delivered: Vec<Recorded>,
}

impl Run {
    /// Nothing has run yet, and everything is recorded.
    async fn unstarted() -> Self {
        let world = World::same(DDL).await;
        let source = Ledger::of_everything(&world.source).await;
        let destination = Ledger::of_everything(&world.destination).await;
        Self::new(world, source, destination)
    }

    /// A mirror ran before. The pages are not recorded: they are many megabytes, and comparing them is enough.
    async fn start() -> Self {
        let world = World::same(DDL).await;
        let process = MirrorProcess::spawn(PROGRAM, &world, TABLES, None).await;
        streaming(&world).await;
        process.stop().await;
        let source = Ledger::of_tables(&world.source, "event, account").await;
        let tables = format!("event, account, {CHECKPOINT_SCHEMA}.replicant_watermarks");
        let destination = Ledger::of_tables(&world.destination, &tables).await;
        Self::new(world, source, destination)
    }

    fn new(world: World, source: Ledger, destination: Ledger) -> Self {
        Self {
            world,
            next: 1,
            source,
            destination,
            sent: Vec::new(),
            delivered: Vec::new(),
        }
    }

    async fn spawn(&self, failpoint: Option<&str>) -> MirrorProcess {
        MirrorProcess::spawn(PROGRAM, &self.world, TABLES, failpoint).await
    }

    /// One source transaction that also leaves two equal rows in `event`.
    async fn transaction(&mut self, statements: &str) {
        let tx = self.next;
        self.next += 1;
        let statements = statements.replace("{tx}", &tx.to_string());
        self.world
            .run(&format!(
                "begin; insert into event values ({tx}, 'first'), ({tx}, null); {statements}; \
                 insert into event values ({tx}, 'first'); commit"
            ))
            .await;
    }

    async fn round(&mut self) {
        for statements in [
            "insert into account values (1, {tx}, 'a'), (2, {tx}, 'b'), (3, {tx}, null) \
             on conflict (id) do update set tx = excluded.tx",
            "update account set tx = {tx}, note = note || 'x' where id in (1, 2)",
            "delete from event where ctid = (select min(ctid) from event where note = 'first'); \
             update event set note = 'changed' where ctid = (select min(ctid) from event where note is null)",
            "update account set id = 100 + id, tx = {tx} where id = 3; delete from account where id = 2",
            "savepoint s; insert into account values (7, {tx}, 'never'); rollback to s",
            "delete from account where id >= 100",
        ] {
            self.transaction(statements).await;
        }
    }

    /// More than a group holds, so that it is applied in parts.
    async fn large(&mut self) {
        self.transaction(
            "insert into page select n, {tx}, repeat(md5(n::text || {tx}), 5000) from generate_series(1, 80) n \
             on conflict (id) do update set tx = excluded.tx, body = excluded.body",
        )
        .await;
    }

    /// Traffic until the process is dead, of every kind that reaches a step.
    async fn until_dead(&mut self, process: &mut MirrorProcess, step: Step) {
        let started = tokio::time::Instant::now();
        while process.ended().is_none() {
            assert!(started.elapsed() < DEADLINE, "{step:?} was never reached");
            let before = self.world.acked_end().await;
            match step {
                Step::Bound | Step::Originated => self.reconnect(process).await,
                Step::PartApplied => self.large().await,
                Step::IdleRecorded => self.unpublished_wal().await,
                _ => self.round().await,
            }
            self.observed(process, async |world| world.acked_end().await != before)
                .await;
        }
        self.round().await;
    }

    async fn reconnect(&mut self, process: &mut MirrorProcess) {
        self.round().await;
        self.world
            .run(&format!(
                "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '{}'",
                self.world.slot
            ))
            .await;
        self.observed(process, is_streaming).await;
    }

    /// Waits until something is seen of the process, or it is dead.
    async fn observed(&self, process: &mut MirrorProcess, seen: impl AsyncFn(&World) -> bool) {
        wait_for("a sign of life or death", DEADLINE, async || {
            (process.ended().is_some() || seen(&self.world).await).then_some(())
        })
        .await
        .unwrap();
    }

    /// Waits for the walsender of a dead process: a busy slot is looked at again only after a second.
    async fn slot_is_free(&self) {
        let query = format!(
            "select active_pid is null from pg_replication_slots where slot_name = '{}'",
            self.world.slot
        );
        wait_for_true(&self.world.source, &query, DEADLINE)
            .await
            .unwrap();
    }

    /// WAL that publishes nothing, as much as makes an idle advance due.
    async fn unpublished_wal(&mut self) {
        self.world
            .run("select pg_logical_emit_message(false, 'p', repeat('x', 4000000)) from generate_series(1, 5)")
            .await;
    }

    /// Compares the tables, then judges what was recorded since the beginning.
    async fn judge(&mut self) {
        let pages = "(select id, tx, md5(body) from page) as pages";
        assert_equal(&self.world, &["event", "account", pages]).await;
        self.sent.extend(self.source.read(&self.world.source).await);
        self.delivered
            .extend(self.destination.read(&self.world.destination).await);
        judge(&self.sent, &self.delivered, self.world.slot);
    }
}

/// Waits until a process streams, so that nothing written from now on precedes the slot.
async fn streaming(world: &World) {
    wait_for("the stream", DEADLINE, async || {
        is_streaming(world).await.then_some(())
    })
    .await
    .unwrap();
}

async fn is_streaming(world: &World) -> bool {
    let query = "select exists (select from pg_stat_replication r join pg_replication_slots s \
                 on s.active_pid = r.pid where s.slot_name = $1 and r.state = 'streaming')";
    let row = world.source.query_one(query, &[&world.slot]).await;
    row.unwrap().get(0)
}

/// A mirror has no key to recognise a repeated event by, so their sequence on both sides says it all: nothing lost,
/// nothing twice, nothing reordered; whole transactions only; and the acknowledged end stands exactly behind them.
fn judge(sent: &[Recorded], delivered: &[Recorded], slot: &str) {
    let mut to_come = sent
        .iter()
        .filter(|transaction| transaction.of("event").next().is_some())
        .peekable();
    let mut acked = 0;
    let mut versions: HashMap<String, (u64, u64)> = HashMap::new();
    for (number, transaction) in delivered.iter().enumerate() {
        let rows = transaction
            .changes
            .iter()
            .any(|change| TABLES.contains(&change.table.as_str()));
        let advances: Vec<&RecordedChange> = transaction
            .of("replicant_watermarks")
            .filter(|change| value(change, 2).as_deref() == Some(slot))
            .collect();
        // Before its first start a checkpoint has no position.
        if let Some(end) = advances.last().and_then(|advance| value(advance, 4)) {
            let now = end.parse().unwrap();
            assert!(now >= acked, "the acknowledged end went back");
            acked = now;
        }
        if !rows {
            continue;
        }
        assert_eq!(
            advances.len(),
            1,
            "rows and watermark are not one transaction"
        );
        for change in transaction.of("account") {
            let Some(id) = value(change, 0).filter(|_| change.new.is_some()) else {
                continue;
            };
            let version = number_in(change, 1);
            let here = u64::try_from(number).unwrap();
            let (seen, at) = versions.insert(id, (version, here)).unwrap_or_default();
            assert!(
                version > seen || at == here,
                "an older row was written again"
            );
        }
        let mut events = transaction.of("event").peekable();
        let mut last = 0;
        while events.peek().is_some() {
            let source = to_come.next().expect("an event was delivered twice");
            for expected in source.of("event") {
                let found = events.next().expect("a transaction was torn");
                assert_eq!((&found.old, &found.new), (&expected.old, &expected.new));
            }
            last = source.end_lsn;
        }
        assert!(
            acked >= last,
            "the acknowledged end is before what was written"
        );
        if let Some(next) = to_come.peek() {
            assert!(
                acked < next.end_lsn,
                "the acknowledged end is beyond what was written"
            );
        }
    }
    assert_eq!(to_come.next(), None, "an event was lost");
}

fn value(change: &RecordedChange, column: usize) -> Option<String> {
    let row = change.new.as_ref().or(change.old.as_ref())?;
    row.get(column)?.clone()
}

fn number_in(change: &RecordedChange, column: usize) -> u64 {
    value(change, column).unwrap().parse().unwrap()
}

/// Dies at each of these steps, the given time it is reached, and is started again.
async fn dies_at_every_step(steps: impl Iterator<Item = &Step>, time: u32) {
    let mut run = Run::start().await;
    for step in steps {
        let mut process = run.spawn(Some(&format!("{}:{time}", step.name()))).await;
        run.until_dead(&mut process, *step).await;
        run.slot_is_free().await;
        let process = run.spawn(None).await;
        run.judge().await;
        process.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_step_loses_and_repeats_nothing() {
    dies_at_every_step(Step::ALL.iter(), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_death_at_any_step_loses_and_repeats_nothing() {
    dies_at_every_step(Step::ALL.iter(), 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_that_dies_at_any_step_is_started_again() {
    for step in [Step::Bound, Step::Originated] {
        let mut run = Run::unstarted().await;
        let mut process = run.spawn(Some(step.name())).await;
        process.wait().await;
        let process = run.spawn(None).await;
        streaming(&run.world).await;
        run.round().await;
        run.judge().await;
        process.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_moment_loses_and_repeats_nothing() {
    let mut run = Run::start().await;
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..6 {
        let mut process = run.spawn(None).await;
        // Half of the kills hit a start, the others hit deliveries.
        if random.bool() {
            streaming(&run.world).await;
        }
        for _ in 0..random.u32(1..30) {
            if random.u32(..10) == 0 {
                run.large().await;
            }
            run.round().await;
        }
        process.kill().await;
        run.round().await;
    }
    let process = run.spawn(None).await;
    run.judge().await;
    process.stop().await;
}
