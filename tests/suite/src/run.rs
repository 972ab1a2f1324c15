//! Was every source transaction effective exactly once? Traffic of which both servers keep a record, and its judge.
//!
//! The judge is not the tables alone: the destination's own WAL says which row changes were committed, how often,
//! in which order, and together with which watermark.

use std::collections::HashMap;

use replicant_test_servers::{wait_for, wait_for_true};

use crate::World;
use crate::child::{Launch, MirrorProcess};
use crate::compare::assert_equal;
use crate::ledger::{Ledger, Recorded, RecordedChange};
use crate::world::{CHECKPOINT_SCHEMA, DEADLINE};

/// The tables of the traffic.
pub const TABLES: &[&str] = &["event", "account", "page"];

/// `event` has no key and repeats rows; every row of `account` tells which transaction wrote it last; `page` makes a
/// transaction larger than a group of eight MiB.
pub const DDL: &str = "create table event (tx bigint not null, note text); \
    alter table event replica identity full; \
    create table account (id int primary key, tx bigint not null, note text); \
    create table page (id int primary key, tx bigint not null, body text)";

/// Traffic, one number per transaction, and what both servers recorded of it.
pub struct Run {
    /// Where it happens.
    pub world: World,
    program: &'static str,
    next: u64,
    source: Ledger,
    destination: Ledger,
    sent: Vec<Recorded>,
    delivered: Vec<Recorded>,
}

impl Run {
    /// Nothing has run yet, and everything is recorded.
    ///
    /// # Panics
    /// When the servers refuse.
    pub async fn unstarted(program: &'static str) -> Self {
        let world = World::same(DDL).await;
        let source = Ledger::of_everything(&world.source).await;
        let destination = Ledger::of_everything(&world.destination).await;
        Self::new(program, world, source, destination)
    }

    /// A mirror ran before. The pages are not recorded: they are many megabytes, and comparing them is enough.
    ///
    /// # Panics
    /// When the servers refuse, or the mirror does not stream.
    pub async fn start(program: &'static str) -> Self {
        Self::start_in(program, World::same(DDL).await).await
    }

    /// The same in a world that has the tables.
    ///
    /// # Panics
    /// When the servers refuse, or the mirror does not stream.
    pub async fn start_in(program: &'static str, world: World) -> Self {
        let process = MirrorProcess::spawn(program, &world, TABLES, Launch::default()).await;
        streaming(&world).await;
        process.stop().await;
        let source = Ledger::of_tables(&world.source, "event, account").await;
        let tables = format!("event, account, {CHECKPOINT_SCHEMA}.replicant_watermarks");
        let destination = Ledger::of_tables(&world.destination, &tables).await;
        Self::new(program, world, source, destination)
    }

    fn new(program: &'static str, world: World, source: Ledger, destination: Ledger) -> Self {
        Self {
            world,
            program,
            next: 1,
            source,
            destination,
            sent: Vec::new(),
            delivered: Vec::new(),
        }
    }

    /// Starts a mirror of the traffic.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn spawn(&self, launch: Launch) -> MirrorProcess {
        MirrorProcess::spawn(self.program, &self.world, TABLES, launch).await
    }

    /// One source transaction that also leaves two equal rows in `event`.
    ///
    /// # Panics
    /// When a server refuses.
    pub async fn transaction(&mut self, statements: &str) {
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

    /// Transactions of every kind.
    ///
    /// # Panics
    /// When a server refuses.
    pub async fn round(&mut self) {
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
    ///
    /// # Panics
    /// When a server refuses.
    pub async fn large(&mut self) {
        self.transaction(
            "insert into page select n, {tx}, repeat(md5(n::text || {tx}), 5000) from generate_series(1, 80) n \
             on conflict (id) do update set tx = excluded.tx, body = excluded.body",
        )
        .await;
    }

    /// Waits for the walsender of a dead process: a busy slot is looked at again only after a second.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn slot_is_free(&self) {
        slot_is_free(&self.world).await;
    }

    /// Compares the tables, then judges what was recorded since the beginning.
    ///
    /// # Panics
    /// When anything was lost, repeated, reordered or torn.
    pub async fn judge(&mut self) {
        let pages = "(select id, tx, md5(body) from page) as pages";
        assert_equal(&self.world, &["event", "account", pages]).await;
        self.sent.extend(self.source.read(&self.world.source).await);
        self.delivered
            .extend(self.destination.read(&self.world.destination).await);
        judge(&self.sent, &self.delivered, self.world.slot);
    }
}

/// Waits for the walsender of a dead process.
///
/// # Panics
/// When that takes too long.
pub async fn slot_is_free(world: &World) {
    let query = format!(
        "select active_pid is null from pg_replication_slots where slot_name = '{}'",
        world.slot
    );
    wait_for_true(&world.source, &query, DEADLINE)
        .await
        .unwrap();
}

/// Waits until a process streams, so that nothing written from now on precedes the slot.
///
/// # Panics
/// When that takes too long.
pub async fn streaming(world: &World) {
    wait_for("the stream", DEADLINE, async || {
        is_streaming(world).await.then_some(())
    })
    .await
    .unwrap();
}

/// Does the source stream to a mirror now?
///
/// # Panics
/// When a server refuses.
pub async fn is_streaming(world: &World) -> bool {
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

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    fn change(table: &str, row: &[&str]) -> RecordedChange {
        RecordedChange {
            table: table.to_owned(),
            old: None,
            new: Some(row.iter().map(|value| Some((*value).to_owned())).collect()),
        }
    }

    fn event(tx: &str) -> RecordedChange {
        change("event", &[tx, "first"])
    }

    /// Transaction `tx` of the source ends at `10 * tx`.
    fn sent(tx: u64) -> Recorded {
        Recorded {
            commit_lsn: 10 * tx - 2,
            end_lsn: 10 * tx,
            changes: vec![event(&tx.to_string()), event(&tx.to_string())],
        }
    }

    /// A destination transaction with these events, and the checkpoint that is written with it.
    fn delivered(events: &[&str], acked: Option<&str>) -> Recorded {
        let mut changes: Vec<_> = events.iter().map(|tx| event(tx)).collect();
        changes.extend(
            acked.map(|acked| change("replicant_watermarks", &["1", "shop", "s", "0", acked])),
        );
        Recorded {
            commit_lsn: 1,
            end_lsn: 2,
            changes,
        }
    }

    #[test]
    fn the_judge_finds_whatever_is_not_effective_exactly_once() {
        let source = [sent(1), sent(2), sent(3)];
        let accepts = |delivered: &[Recorded]| catch_unwind(|| judge(&source, delivered, "s"));
        let one = || delivered(&["1", "1"], Some("10"));
        let rest = || delivered(&["2", "2", "3", "3"], Some("30"));
        assert!(accepts(&[one(), rest()]).is_ok());
        for (fault, found) in [
            ("lost", vec![one()]),
            (
                "lost in the middle",
                vec![one(), delivered(&["3", "3"], Some("30"))],
            ),
            ("twice", vec![one(), one(), rest()]),
            (
                "twice at the end",
                vec![one(), rest(), delivered(&["3", "3"], Some("30"))],
            ),
            (
                "torn",
                vec![
                    delivered(&["1"], Some("10")),
                    delivered(&["1"], Some("10")),
                    rest(),
                ],
            ),
            (
                "reordered",
                vec![delivered(&["2", "2"], Some("20")), one(), rest()],
            ),
            (
                "without its checkpoint",
                vec![delivered(&["1", "1"], None), rest()],
            ),
            (
                "acknowledged too little",
                vec![delivered(&["1", "1"], Some("9")), rest()],
            ),
            (
                "acknowledged too much",
                vec![delivered(&["1", "1"], Some("20")), rest()],
            ),
            ("gone back", vec![one(), rest(), delivered(&[], Some("20"))]),
        ] {
            assert!(accepts(&found).is_err(), "{fault}");
        }
    }
}
