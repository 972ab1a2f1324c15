//! Does a random workload of tenants whose keys collide leave each of them with its own rows and versions, whatever
//! interrupts the mirror?
//!
//! The source judges, tenant by tenant. Every run prints its seed; `REPLICANT_TEST_SEED` repeats one.

use fastrand::Rng;
use replicant_sink::delivery::failpoint::Step;
use replicant_sink::prelude::*;
use replicant_test_servers::{wait_for, wait_for_true};
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::journal::{Journal, opened_versions};
use replicant_tests::kept::WINDOW;
use replicant_tests::refusal::drop_slot;
use replicant_tests::sealing::{place, rotated};
use replicant_tests::world::DEADLINE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");

/// `t` has one key and one unique value for each tenant, `g` a key that the tenants share and a destination whose primary
/// key does not name the tenant, `h` is kept as a history, and `s` in a schema for each tenant. `v` of all but `g` is sealed.
const SOURCE: &str = "create table t (org text, id int, mail text, v text, big text, primary key (org, id), unique (org, mail)); \
    create table g (id int primary key, org text not null, v text, big text); \
    create table h (org text, id int, v text, big text, primary key (org, id)); \
    create table s (org text, id int, v text, big text, primary key (org, id))";

const TABLES: &[&str] = &[
    "t by org",
    "g by org",
    "h by org: history(id)",
    "s by org in tenant_{}",
];

const TENANTS: &[&str] = &["a", "b", "c"];

fn destination() -> String {
    format!(
        "create table t (org text, id int, mail text, encrypted_v bytea, big text, primary key (org, id), unique (org, mail)); \
         create table g (id int primary key, org text not null, v text, big text, unique (org, id)); \
         create table h (org text not null, id int not null, encrypted_v bytea, big text, {WINDOW}); \
         create unique index on h (org, id, valid_from_lsn); \
         create unique index on h (org, id) where valid_to_lsn is null; \
         create table s (org text, id int primary key, encrypted_v bytea, big text)"
    )
}

/// One random statement of these tenants. Keys come from a small range, so that statements and tenants meet.
fn statement(random: &mut Rng, tenants: &[&str]) -> String {
    let table = ["t", "g", "h", "s"][random.usize(..4)];
    let (o, p) = (
        random.choice(tenants).unwrap(),
        random.choice(tenants).unwrap(),
    );
    let (k, l, m) = (random.u32(0..6), random.u32(0..6), random.u32(0..1000));
    let big = match random.u32(..3) {
        0 => format!("repeat('{m}x', 1500)"),
        1 => "null".to_owned(),
        _ => format!("'{m}'"),
    };
    match random.u32(..16) {
        0..=3 => match table {
            "t" => format!("insert into t values ('{o}', {k}, 'm{l}', '{m}', {big})"),
            "g" => format!("insert into g values ({k}, '{o}', '{m}', {big})"),
            other => format!("insert into {other} values ('{o}', {k}, '{m}', {big})"),
        },
        4..=5 => format!("update {table} set v = '{m}' where id between {k} and {l}"),
        6 => format!("update {table} set big = {big} where org = '{o}' and id = {k}"),
        7 => format!("update {table} set id = {l} where org = '{o}' and id = {k}"),
        8..=9 => format!("update {table} set org = '{p}' where org = '{o}' and id = {k}"),
        10 => format!(
            "update {table} set org = '{p}', id = {l}, v = '{m}' where org = '{o}' and id = {k}"
        ),
        11 => format!(
            "update {table} set id = -1 where org = '{o}' and id = {k}; \
             update {table} set org = '{o}', id = {k} where org = '{p}' and id = {l}; \
             update {table} set org = '{p}', id = {l} where org = '{o}' and id = -1"
        ),
        12 => format!("delete from {table} where org = '{o}' and id = {k}"),
        13 => format!("delete from {table} where id = {k}"),
        14 => match table {
            "t" => format!(
                "update t set mail = 'tmp' where org = '{o}' and id = {k}; \
                update t set mail = 'm{m}' where org = '{o}' and id = {l}"
            ),
            "g" => format!(
                "insert into g select n, '{o}', '{m}', null from generate_series(100, 500) n on conflict (id) do update \
                 set org = excluded.org"
            ),
            other => format!(
                "insert into {other} select '{o}', n, '{m}', null from generate_series(100, 500) n on conflict do nothing"
            ),
        },
        _ => match random.u32(..4) {
            0 => format!("truncate {table}"),
            1 => format!("delete from {table} where org = '{o}' and id >= 100"),
            _ => format!("update {table} set v = v"),
        },
    }
}

/// What an envelope of this table and tenant holds.
fn open(table: &'static str, tenant: &str, envelope: &[u8]) -> String {
    let place = place(table, "encrypted_v");
    let opened = Sealed::<String>::open(&rotated(0), &place, Some(tenant), envelope);
    let opened = opened.expect("an envelope opens for its tenant");
    opened.expose().clone()
}

struct Run {
    world: World,
    journal: Journal,
    random: Rng,
    /// How many of the tenants there are.
    tenants: usize,
}

impl Run {
    async fn start() -> Self {
        let seed = std::env::var("REPLICANT_TEST_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .unwrap_or_else(|| fastrand::u64(..));
        println!("REPLICANT_TEST_SEED={seed}");
        let world = World::new(SOURCE, &destination()).await;
        for table in ["t", "g", "h", "s"] {
            let full = format!(
                "alter table {table} alter big set storage external; \
                alter table {table} replica identity full"
            );
            world.run(&full).await;
        }
        let journal = Journal::open(&world, &[("h", &["org", "id", "v", "big"])]).await;
        let mut run = Self {
            world,
            journal,
            random: Rng::with_seed(seed),
            tenants: 0,
        };
        run.tenant().await;
        let process = run.spawn(Launch::default()).await;
        run.streaming().await;
        process.stop().await;
        run.tenant().await;
        run
    }

    /// One more tenant gets its schema.
    async fn tenant(&mut self) {
        let Some(tenant) = TENANTS.get(self.tenants) else {
            return;
        };
        self.tenants += 1;
        let ddl = format!(
            "create schema tenant_{tenant}; \
             create table tenant_{tenant}.s (org text, id int primary key, encrypted_v bytea, big text)"
        );
        self.world.destination.batch_execute(&ddl).await.unwrap();
    }

    async fn spawn(&self, launch: Launch) -> MirrorProcess {
        MirrorProcess::spawn(PROGRAM, &self.world, TABLES, launch).await
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
            let statement = statement(&mut self.random, &TENANTS[..self.tenants]);
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

    /// More than a group holds, of two tenants with the same keys.
    async fn large(&self) {
        self.world
            .run(
                "begin; insert into s select o, n, 'large', repeat('y', 1500) from generate_series(10000, 13000) n, \
                 unnest(array['a', 'b']) o on conflict do nothing; \
                 insert into t select o, n, null, 'large', repeat('y', 1500) from generate_series(10000, 13000) n, \
                 unnest(array['a', 'b']) o on conflict do nothing; \
                 update t set org = 'tmp' where org = 'a' and id >= 10000; update t set org = 'a' where org = 'b' and id >= 10000; \
                 update t set org = 'b' where org = 'tmp'; delete from s where org = 'a' and id >= 10000; \
                 delete from t where id >= 10000 and id % 2 = 0; commit",
            )
            .await;
    }

    async fn judge(&mut self) {
        self.world.caught_up().await;
        for tenant in &TENANTS[..self.tenants] {
            for (table, key) in [("t", "id, mail"), ("g", "id"), ("s", "id")] {
                let here = format!("{table} where org = '{tenant}'");
                let there = match table {
                    "s" => format!("tenant_{tenant}.s"),
                    _ => here.clone(),
                };
                let rest = format!("concat_ws('|', {key}, md5(big))");
                let here = format!("select {rest}, v from {here} order by id");
                let here = self.world.source.query(&here, &[]).await.unwrap();
                let here: Vec<_> = here.iter().map(|row| (row.get(0), row.get(1))).collect();
                let v = if table == "g" { "v" } else { "encrypted_v" };
                let there = format!("select {rest}, {v} from {there} order by id");
                let there = self.world.destination.query(&there, &[]).await.unwrap();
                let there: Vec<(String, Option<String>)> = there
                    .iter()
                    .map(|row| match table {
                        "g" => (row.get(0), row.get(1)),
                        _ => {
                            let envelope: Option<Vec<u8>> = row.get(1);
                            let v = envelope.map(|envelope| open(table, tenant, &envelope));
                            (row.get(0), v)
                        }
                    })
                    .collect();
                assert!(here == there, "{table} of {tenant}: {here:?}\nis {there:?}");
            }
        }
        self.journal.read(&self.world.source).await;
        let columns = &["org", "id", "v", "big"];
        let expected = self.journal.versions("h", &[0, 1]);
        let of_tenant = |row: &[Option<String>], envelope: &[u8]| {
            open("h", row[0].as_deref().unwrap(), envelope)
        };
        let found = opened_versions(&self.world.destination, "h", (columns, 2), of_tenant).await;
        let differs = found
            .iter()
            .zip(&expected)
            .find(|(one, other)| one != other);
        assert!(found == expected, "{differs:?}");
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
        let query = "select exists (select from pg_stat_replication r join pg_replication_slots s \
                     on s.active_pid = r.pid where s.slot_name = $1 and r.state = 'streaming')";
        wait_for("the stream", DEADLINE, async || {
            let row = self
                .world
                .source
                .query_one(query, &[&self.world.slot])
                .await;
            row.unwrap().get::<_, bool>(0).then_some(())
        })
        .await
        .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_with_colliding_keys_survive_interruptions() {
    let mut run = Run::start().await;
    for round in 0..5 {
        run.transactions(40).await;
        let mut process = run.spawn(Launch::default()).await;
        if run.random.bool() {
            run.streaming().await;
        }
        run.transactions(60).await;
        if round == 2 {
            // The third tenant comes while the mirror runs.
            run.tenant().await;
        }
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
    drop_slot(&run.world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_with_colliding_keys_survive_a_death_where_rows_are_written() {
    let mut run = Run::start().await;
    for step in [
        Step::GroupTaken,
        Step::Opened,
        Step::Applied,
        Step::PartApplied,
        Step::Committed,
        Step::Reported,
    ] {
        let mut process = run
            .spawn(Launch::dying_at(&format!("{}:1", step.name())))
            .await;
        wait_for("the death", DEADLINE, async || {
            run.transaction().await;
            if step == Step::PartApplied {
                run.large().await;
            }
            process.ended().map(|_| ())
        })
        .await
        .unwrap();
        run.slot_is_free().await;
        let process = run.spawn(Launch::default()).await;
        run.judge().await;
        process.stop().await;
    }
    drop_slot(&run.world).await;
}
