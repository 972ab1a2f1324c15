//! Has every change run its hook exactly once, in the source's order, whatever died in between? Judged by what both servers
//! recorded, not by the mirror.

use fastrand::Rng;
use replicant_sink::delivery::failpoint::Step;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::child::{HOOKED, Launch, MirrorProcess};
use replicant_tests::hooked::{SHOP_DESTINATION, SHOP_SOURCE, Shop, start};
use replicant_tests::ledger::{Ledger, Recorded, RecordedChange};
use replicant_tests::run::{slot_is_free, streaming};
use replicant_tests::world::{CHECKPOINT_SCHEMA, DEADLINE};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");

/// Payments, and what both servers recorded of them.
struct Traffic {
    world: World,
    random: Rng,
    source: Ledger,
    destination: Ledger,
    sent: Vec<Recorded>,
    delivered: Vec<Recorded>,
}

impl Traffic {
    async fn begin(seed: u64) -> Self {
        println!("REPLICANT_TEST_SEED={seed}");
        let world = World::new(SHOP_SOURCE, SHOP_DESTINATION).await;
        start::<Shop>(&world).await.stop().await.unwrap();
        let tables = format!("receipt, {CHECKPOINT_SCHEMA}.replicant_watermarks");
        Self {
            source: Ledger::of_tables(&world.source, "payment").await,
            destination: Ledger::of_tables(&world.destination, &tables).await,
            world,
            random: Rng::with_seed(seed),
            sent: Vec::new(),
            delivered: Vec::new(),
        }
    }

    async fn spawn(&self, launch: Launch) -> MirrorProcess {
        MirrorProcess::spawn(PROGRAM, &self.world, &[HOOKED], launch).await
    }

    fn statement(&mut self) -> String {
        let random = &mut self.random;
        let (k, l, amount) = (random.u32(1..9), random.u32(1..9), random.u32(..1000));
        match random.u32(..8) {
            0..=2 => format!(
                "insert into payment values ({k}, {amount}, ' n ', repeat('x', {amount}0)) on conflict do nothing"
            ),
            3 => format!("update payment set amount = {amount} where id between {k} and {l}"),
            4 => format!("update payment set note = '{amount}' where id = {k}"),
            5 => format!(
                "update payment set id = {l} where id = {k} and not exists (select from payment where id = {l})"
            ),
            6 => format!("delete from payment where id = {k}"),
            _ => {
                format!("savepoint s; update payment set amount = 1 where id = {k}; rollback to s")
            }
        }
    }

    async fn transactions(&mut self, most: u32) {
        for _ in 0..self.random.u32(1..=most) {
            let statements: Vec<String> = (0..self.random.u32(1..6))
                .map(|_| self.statement())
                .collect();
            let statements = statements.join("; ");
            self.world
                .run(&format!("begin; {statements}; commit"))
                .await;
        }
    }

    /// More than a group holds, so that it is applied in parts.
    async fn large(&mut self) {
        self.world
            .run(
                "begin; delete from payment where id > 1000; insert into payment select 1000 + n, n, null, \
                 (select string_agg(md5(m::text || n), '') from generate_series(1, 8000) m) \
                 from generate_series(1, 45) n; commit",
            )
            .await;
    }

    /// Every change of a payment has its receipt, once and in order, in a transaction that moved the watermark.
    async fn judge(&mut self) {
        self.world.caught_up().await;
        self.sent.extend(self.source.read(&self.world.source).await);
        let delivered = self.destination.read(&self.world.destination).await;
        self.delivered.extend(delivered);
        let expected: Vec<_> = self
            .sent
            .iter()
            .flat_map(|transaction| transaction.of("payment").flat_map(receipts))
            .collect();
        let found: Vec<_> = self
            .delivered
            .iter()
            .flat_map(|transaction| transaction.of("receipt").map(receipt))
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(found, expected);
        for transaction in &self.delivered {
            if transaction.of("receipt").next().is_some() {
                assert_eq!(transaction.of("replicant_watermarks").count(), 1);
            }
        }
        let rows = async |client: &tokio_postgres::Client, note: &str, body: &str| -> Vec<String> {
            let query = format!(
                "select concat_ws(' ', id, amount, {note}, {body}) from payment order by id"
            );
            let rows = client.query(&query, &[]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        };
        let source = rows(
            &self.world.source,
            "'<' || trim(note) || '>'",
            "length(body) + 2",
        );
        let mirror = rows(&self.world.destination, "note", "length(body)");
        assert_eq!(mirror.await, source.await);
    }
}

type Told = (Option<String>, String, Option<String>);

/// The receipts that a change of a payment must have.
fn receipts(change: &RecordedChange) -> Vec<Told> {
    let id = |row: &Vec<Option<String>>| row[0].clone();
    let removed = |row: &Vec<Option<String>>| (id(row), "REMOVED".to_owned(), None);
    let paid = |row: &Vec<Option<String>>| (id(row), "PAID".to_owned(), row[1].clone());
    let mut told: Vec<Told> = change.old.iter().map(removed).collect();
    told.extend(change.new.iter().map(paid));
    told
}

/// A receipt as it was written: payment, what, and what was seen.
fn receipt(change: &RecordedChange) -> Told {
    let row = change
        .new
        .as_ref()
        .expect("a receipt is only ever inserted");
    (row[1].clone(), row[2].clone().unwrap(), row[3].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_step_runs_every_hook_once() {
    let mut traffic = Traffic::begin(fastrand::u64(..)).await;
    let steps = [
        (Step::GroupTaken, 2),
        (Step::Opened, 1),
        (Step::HookRan, 1),
        (Step::HookRan, 4),
        (Step::PartApplied, 1),
        (Step::Applied, 2),
        (Step::Committed, 1),
        (Step::Reported, 2),
    ];
    for (step, time) in steps {
        let launch = Launch::dying_at(&format!("{}:{time}", step.name()));
        let mut process = traffic.spawn(launch).await;
        while process.ended().is_none() {
            let before = traffic.world.acked_end().await;
            match step {
                Step::PartApplied => traffic.large().await,
                _ => traffic.transactions(3).await,
            }
            wait_for("a sign of life or death", DEADLINE, async || {
                let moved = traffic.world.acked_end().await != before;
                (process.ended().is_some() || moved).then_some(())
            })
            .await
            .unwrap();
        }
        traffic.transactions(10).await;
        slot_is_free(&traffic.world).await;
        let process = traffic.spawn(Launch::default()).await;
        traffic.judge().await;
        process.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_random_workload_that_is_killed_at_random_runs_every_hook_once() {
    let seed = std::env::var("REPLICANT_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| fastrand::u64(..));
    let mut traffic = Traffic::begin(seed).await;
    for _ in 0..5 {
        // A backlog, which is applied in groups.
        traffic.transactions(40).await;
        let mut process = traffic.spawn(Launch::default()).await;
        if traffic.random.bool() {
            streaming(&traffic.world).await;
        }
        if traffic.random.u32(..3) == 0 {
            traffic.large().await;
        }
        traffic.transactions(60).await;
        process.kill().await;
        traffic.transactions(10).await;
        slot_is_free(&traffic.world).await;
        let process = traffic.spawn(Launch::default()).await;
        traffic.judge().await;
        process.stop().await;
    }
}
