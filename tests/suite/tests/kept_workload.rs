//! Does a random workload, interrupted at random and by a death at every step, leave every version in a history and
//! every event in a log, each once?
//!
//! The source judges: its triggers noted every change, its WAL says which transaction it belongs to. Every run prints its
//! seed; `REPLICANT_TEST_SEED` repeats one.

use std::collections::BTreeMap;

use fastrand::Rng;
use replicant_sink::delivery::failpoint::Step;
use replicant_sink::prelude::*;
use replicant_test_servers::{wait_for, wait_for_true};
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::journal::{Journal, Version, noted, opened_versions, stored_versions};
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::sealing::{place, rotated};
use replicant_tests::world::DEADLINE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");

/// `t` tells only its key of old rows, and leaves out what an update did not touch; `f` has a key of two columns, one of
/// which the destination compares more coarsely than its text, and is followed by its whole old rows.
const SOURCE: &str = "create table t (id int primary key, v text, big text); \
    alter table t alter big set storage external; \
    create table f (a numeric, b text, v text, big text, primary key (a, b)); \
    alter table f alter big set storage external; alter table f replica identity full";

const NOTED: &[(&str, &[&str])] = &[("t", &["id", "v", "big"]), ("f", &["a", "b", "v", "big"])];

/// What the destination keeps of both tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Histories,
    /// With `big` sealed, and a key added to the vault at every start.
    SealedHistories,
    Logs,
}

impl Kept {
    fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Histories | Self::SealedHistories => &["t: history(id)", "f: history(a, b)"],
            Self::Logs => &["t: log", "f: log"],
        }
    }

    fn destination(self) -> String {
        match self {
            Self::SealedHistories => {
                let clear = Self::Histories.destination();
                clear.replace("big text", "encrypted_big bytea")
            }
            Self::Histories => format!(
                "create table t (id int not null, v text, big text, {WINDOW}); \
                 create unique index on t (id, valid_from_lsn); \
                 create unique index on t (id) where valid_to_lsn is null; \
                 create table f (a numeric not null, b text not null, v text, big text, {WINDOW}); \
                 create unique index on f (a, b, valid_from_lsn); \
                 create unique index on f (a, b) where valid_to_lsn is null"
            ),
            Self::Logs => format!(
                "create table t (id int, v text, big text, {STAMPS}); create unique index on t ({AXES}); \
                 create table f (a numeric, b text, v text, big text, {STAMPS}); create unique index on f ({AXES})"
            ),
        }
    }
}

/// One random statement. Keys come from a small range, so that statements meet.
fn statement(random: &mut Rng) -> String {
    let (k, l, m) = (random.u32(0..8), random.u32(0..8), random.u32(0..1000));
    let big = match random.u32(..3) {
        0 => format!("repeat('{m}x', 1500)"),
        1 => "null".to_owned(),
        _ => format!("'{m}'"),
    };
    match random.u32(..24) {
        0..=3 => format!("insert into t values ({k}, '{m}', {big}) on conflict do nothing"),
        4..=6 => format!("update t set v = '{m}' where id between {k} and {l}"),
        7 => format!("update t set big = {big} where id = {k}"),
        8..=9 => format!("update t set id = {l} where id = {k}"),
        10 => format!(
            "update t set id = -1 where id = {k}; update t set id = {k} where id = {l}; \
                       update t set id = {l} where id = -1"
        ),
        11..=12 => format!("delete from t where id = {k}"),
        13 => format!(
            "delete from t where id = {k}; insert into t values ({k}, '{m}', {big}) on conflict do nothing"
        ),
        14..=16 => {
            format!("insert into f values ({k}, 'b{l}', '{m}', {big}) on conflict do nothing")
        }
        17 => format!("update f set v = '{m}' where a = {k}"),
        18 => format!(
            "update f set a = {l} where b = 'b{k}' and a <> {l} \
                       and not exists (select from f x where x.a = {l} and x.b = f.b) \
                       and a = (select min(a) from f x where x.b = f.b)"
        ),
        19 => format!("delete from f where a = {k}"),
        20 => format!(
            "insert into t select n, '{m}', null from generate_series(100, 700) n on conflict do nothing"
        ),
        21 => format!("update t set v = '{m}' where id >= 100"),
        22 => "delete from t where id >= 100 and id % 2 = 0".to_owned(),
        _ => match random.u32(..4) {
            0 => "truncate t".to_owned(),
            1 => "truncate t, f".to_owned(),
            _ => "update f set v = v".to_owned(),
        },
    }
}

/// What became of each row, as text: at each position what it was, or that it ended.
type Noted = BTreeMap<(i64, String), Vec<(String, Option<Vec<Option<String>>>)>>;

/// One source, one destination, and what must be in it.
struct Run {
    kept: Kept,
    world: World,
    journal: Journal,
    random: Rng,
    rotations: u8,
}

impl Run {
    async fn start(kept: Kept) -> Self {
        let seed = std::env::var("REPLICANT_TEST_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .unwrap_or_else(|| fastrand::u64(..));
        println!("REPLICANT_TEST_SEED={seed}");
        let world = World::new(SOURCE, &kept.destination()).await;
        if kept == Kept::Logs {
            world.run("alter table t replica identity full").await;
        }
        let journal = Journal::open(&world, NOTED).await;
        let mut run = Self {
            kept,
            world,
            journal,
            random: Rng::with_seed(seed),
            rotations: 0,
        };
        let process = run.spawn(Launch::default()).await;
        run.streaming().await;
        process.stop().await;
        run
    }

    async fn spawn(&mut self, launch: Launch) -> MirrorProcess {
        if self.kept == Kept::SealedHistories {
            self.rotations += 1;
        }
        let launch = Launch {
            rotations: self.rotations,
            ..launch
        };
        MirrorProcess::spawn(PROGRAM, &self.world, self.kept.tables(), launch).await
    }

    async fn transactions(&mut self, most: u32) {
        for _ in 0..self.random.u32(1..most) {
            self.transaction().await;
        }
    }

    /// Statements that the source refuses are rolled back to before them.
    async fn transaction(&mut self) {
        let source = &self.world.source;
        source.batch_execute("begin").await.unwrap();
        for _ in 0..self.random.u32(1..7) {
            let undone = self.random.u32(..6) == 0;
            let statement = statement(&mut self.random);
            let outcome = source
                .batch_execute(&format!("savepoint s; {statement}"))
                .await;
            let end = if undone || outcome.is_err() {
                "rollback to s; release s"
            } else {
                "release s"
            };
            source.batch_execute(end).await.unwrap();
        }
        let end = if self.random.u32(..8) == 0 {
            "rollback"
        } else {
            "commit"
        };
        source.batch_execute(end).await.unwrap();
    }

    /// More than a group holds.
    async fn large(&mut self) {
        self.world
            .run(
                "begin; insert into t select n, 'large', repeat('y', 2500) from generate_series(10000, 14000) n \
                 on conflict (id) do update set v = excluded.v; \
                 update t set v = v || '!' where id >= 10000; delete from t where id >= 10000 and id % 2 = 0; commit",
            )
            .await;
    }

    async fn judge(&mut self) {
        self.world.caught_up().await;
        self.journal.read(&self.world.source).await;
        match self.kept {
            Kept::Histories | Kept::SealedHistories => {
                for (table, columns) in NOTED {
                    let key: &[usize] = if *table == "t" { &[0] } else { &[0, 1] };
                    let expected = self.journal.versions(table, key);
                    let found = self.versions(table, columns).await;
                    assert!(
                        found == expected,
                        "{table}: {}",
                        first_difference(&found, &expected)
                    );
                }
            }
            Kept::Logs => self.judge_logs().await,
        }
    }

    async fn versions(&self, table: &'static str, columns: &[&str]) -> Vec<Version> {
        let client = &self.world.destination;
        if self.kept == Kept::Histories {
            return stored_versions(client, table, columns).await;
        }
        let keys = rotated(self.rotations);
        let place = place(table, "encrypted_big");
        let open = |_: &[Option<String>], envelope: &[u8]| {
            let opened = Sealed::<String>::open(&keys, &place, None, envelope);
            opened.expect("every version opens").expose().clone()
        };
        opened_versions(client, table, (columns, columns.len() - 1), open).await
    }

    /// Per transaction and table, operations and rows in order; ordinals never repeat.
    async fn judge_logs(&self) {
        let mut expected: Noted = BTreeMap::new();
        for transaction in &self.journal.transactions {
            for entry in &transaction.entries {
                let row = entry.new.clone().or_else(|| entry.old.clone());
                expected
                    .entry((transaction.commit_lsn, entry.table.clone()))
                    .or_default()
                    .push((entry.operation.clone(), row));
            }
        }
        let mut found: Noted = BTreeMap::new();
        for (table, columns) in NOTED {
            let row = noted(columns);
            let query = format!(
                "select commit_lsn, operation, {row} from {table} t order by commit_lsn, ordinal"
            );
            for event in self.world.destination.query(&query, &[]).await.unwrap() {
                let operation: String = event.get(1);
                let row = (operation != "truncate").then(|| event.get(2));
                found
                    .entry((event.get(0), (*table).to_owned()))
                    .or_default()
                    .push((operation, row));
            }
        }
        assert!(found == expected, "the log differs from the journal");
    }

    /// Traffic until the process is dead.
    async fn until_dead(&mut self, process: &mut MirrorProcess, step: Step) {
        let started = tokio::time::Instant::now();
        while process.ended().is_none() {
            assert!(started.elapsed() < DEADLINE, "{step:?} was never reached");
            let before = self.world.acked_end().await;
            match step {
                Step::Bound | Step::Originated => self.reconnect().await,
                Step::PartApplied => self.large().await,
                Step::IdleRecorded => self.unpublished_wal().await,
                _ => self.transactions(10).await,
            }
            wait_for("a sign of life or death", DEADLINE, async || {
                let moved = self.world.acked_end().await != before;
                (process.ended().is_some() || moved || self.is_streaming().await).then_some(())
            })
            .await
            .unwrap();
        }
        self.transactions(10).await;
    }

    async fn reconnect(&self) {
        self.world
            .run(&format!(
                "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '{}'",
                self.world.slot
            ))
            .await;
    }

    async fn unpublished_wal(&self) {
        self.world
            .run("select pg_logical_emit_message(false, 'p', repeat('x', 4000000)) from generate_series(1, 5)")
            .await;
    }

    async fn slot_is_free(&self) {
        let query = format!(
            "select active_pid is null from pg_replication_slots where slot_name = '{}'",
            self.world.slot
        );
        wait_for_true(&self.world.source, &query, DEADLINE)
            .await
            .unwrap();
    }

    async fn streaming(&self) {
        wait_for("the stream", DEADLINE, async || {
            self.is_streaming().await.then_some(())
        })
        .await
        .unwrap();
    }

    async fn is_streaming(&self) -> bool {
        let query = "select exists (select from pg_stat_replication r join pg_replication_slots s \
                     on s.active_pid = r.pid where s.slot_name = $1 and r.state = 'streaming')";
        let row = self
            .world
            .source
            .query_one(query, &[&self.world.slot])
            .await;
        row.unwrap().get(0)
    }
}

fn first_difference<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) -> String {
    let place = found
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected);
    let place = place.unwrap_or(found.len().min(expected.len()));
    format!(
        "found {:?}, expected {:?}",
        found.get(place),
        expected.get(place)
    )
}

async fn survives_interruptions(kept: Kept) {
    let mut run = Run::start(kept).await;
    for _ in 0..5 {
        run.transactions(40).await;
        let mut process = run.spawn(Launch::default()).await;
        if run.random.bool() {
            run.streaming().await;
        }
        run.transactions(60).await;
        if run.random.bool() {
            run.large().await;
        }
        process.kill().await;
        run.transactions(10).await;
        run.slot_is_free().await;
        let process = run.spawn(Launch::default()).await;
        run.judge().await;
        run.transactions(20).await;
        run.judge().await;
        process.stop().await;
    }
}

async fn survives_a_death_at_every_step(kept: Kept) {
    let mut run = Run::start(kept).await;
    for step in Step::ALL {
        let mut process = run
            .spawn(Launch::dying_at(&format!("{}:1", step.name())))
            .await;
        run.until_dead(&mut process, *step).await;
        run.slot_is_free().await;
        let process = run.spawn(Launch::default()).await;
        run.judge().await;
        process.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_survives_interruptions() {
    survives_interruptions(Kept::Histories).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_history_survives_interruptions_and_rotations() {
    survives_interruptions(Kept::SealedHistories).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_history_survives_a_death_at_every_step() {
    survives_a_death_at_every_step(Kept::SealedHistories).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_survives_interruptions() {
    survives_interruptions(Kept::Logs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_survives_a_death_at_every_step() {
    survives_a_death_at_every_step(Kept::Histories).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_survives_a_death_at_every_step() {
    survives_a_death_at_every_step(Kept::Logs).await;
}
