//! What does an engineer on call get from the commands: exit codes, shapes, words and nothing else?
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says what it expects"
)]

use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use replicant_shop::schema;
use replicant_test_servers::{Cluster, wait_for};
use serde_json::Value;

const DEADLINE: Duration = Duration::from_secs(60);

/// The shop's program, configured for one pair of databases.
struct Shop {
    cluster: Cluster,
    identity: String,
}

impl Shop {
    async fn open() -> Self {
        let cluster = Cluster::start_default().unwrap();
        for database in ["shop", "mirror"] {
            cluster.create_database(database).await.unwrap();
        }
        let source = cluster.connect("shop").await.unwrap();
        let destination = cluster.connect("mirror").await.unwrap();
        schema::create_source(&source).await.unwrap();
        schema::create_destination(&destination).await.unwrap();
        let identity = cluster.source_identity("shop").await.unwrap();
        Self { cluster, identity }
    }

    fn program(&self) -> Command {
        let mut command = bare();
        command
            .env("REPLICANT_SHOP_SOURCE", self.cluster.conninfo("shop"))
            .env(
                "REPLICANT_SHOP_DESTINATION",
                self.cluster.conninfo("mirror"),
            )
            .env("REPLICANT_SHOP_SOURCE_IDENTITY", &self.identity);
        command
    }

    /// Asks and returns exit code, answer and complaint.
    fn ask(&self, line: &str) -> (i32, String, String) {
        read(self.program().args(line.split(' ')).output().unwrap())
    }

    fn ask_json(&self, line: &str) -> (i32, Value) {
        let (code, answer, complaint) = self.ask(&format!("{line} --format json"));
        let value = serde_json::from_str(&answer);
        let value = value.unwrap_or_else(|_| panic!("{line}: {answer} {complaint}"));
        (code, value)
    }

    async fn wait_for_state(&self, state: &str) -> Value {
        let found = wait_for(state, DEADLINE, async || {
            let (_, status) = self.ask_json("status");
            (status["state"] == state).then_some(status)
        });
        found.await.unwrap()
    }
}

fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicant-shop"));
    command.stdin(Stdio::null());
    command
}

fn read(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A running pipeline, killed when the test ends.
struct Running(Child);

impl Running {
    fn start(shop: &Shop) -> Self {
        let mut command = shop.program();
        command.arg("run").stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn terminate(&mut self) {
        let id = self.0.id().to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status();
        assert!(kill.unwrap().success());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn with_nothing_configured_the_commands_name_what_to_set() {
    for command in ["preflight", "doctor", "status", "checkpoint show"] {
        let (code, answer, complaint) = read(bare().args(command.split(' ')).output().unwrap());
        assert_eq!(code, 3, "{command}: {answer}{complaint}");
        let told = answer + &complaint;
        for variable in ["REPLICANT_SHOP_SOURCE", "REPLICANT_SHOP_DESTINATION"] {
            assert!(told.contains(variable), "{command}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_life_of_a_pipeline_as_the_commands_tell_it() {
    let shop = Shop::open().await;

    let (code, preflight) = shop.ask_json("preflight");
    assert_eq!(code, 0, "{preflight:#}");
    for (key, value) in [("mode", "preflight"), ("status", "pass")] {
        assert_eq!(preflight[key], value);
    }
    assert_eq!(preflight["exit_code"], 0);
    for check in preflight["checks"].as_array().unwrap() {
        for key in ["name", "domain", "status", "reason"] {
            assert!(check[key].is_string(), "{check}");
        }
        assert!(check["detail"].is_string() || check["detail"].is_null());
    }
    let (code, answer, _) = shop.ask("doctor");
    assert_eq!(code, 2, "{answer}");
    assert!(
        answer.contains("[!!] slot/slot_presence: slot_absent"),
        "{answer}"
    );
    assert!(answer.contains("doctor: warnings, exit code 2"), "{answer}");
    assert!(!answer.contains('\u{1b}'));
    let (code, answer, _) = shop.ask("status");
    assert_eq!(
        (code, answer.lines().next()),
        (2, Some("shop: not started"))
    );
    let (code, answer, _) = shop.ask("checkpoint show");
    assert_eq!((code, answer.as_str()), (0, "no checkpoint\n"));

    let mut running = Running::start(&shop);
    let status = shop.wait_for_state("streaming").await;
    assert_eq!(status["exit_code"], 0, "{status:#}");
    for key in [
        "pipeline",
        "state",
        "exit_code",
        "source",
        "slot",
        "lease",
        "reported",
        "halted",
        "watermark",
        "acked_end",
        "source_wal_end",
        "lag_bytes",
        "slot_now",
        "source_unasked",
    ] {
        assert!(status.get(key).is_some(), "{key}: {status:#}");
    }
    assert_eq!(status["reported"]["phase"], "streaming");
    assert_eq!(status["lease"]["state"], "live");
    let (code, answer, complaint) = shop.ask("doctor");
    assert_eq!(code, 0, "{answer}{complaint}");
    for decision in [
        "checkpoint reset --keep-slot --yes",
        "checkpoint ack-timeline --yes",
        "checkpoint adopt --flush-lsn 0/100 --yes",
    ] {
        let (code, answer, complaint) = shop.ask(decision);
        assert_eq!((code, answer.as_str()), (1, ""), "{decision}");
        assert!(complaint.starts_with("slot_already_active"), "{complaint}");
    }
    running.terminate();
    let (code, answer, _) = shop.ask("status");
    assert_eq!(
        (code, answer.lines().next()),
        (2, Some("shop: not started"))
    );

    // The shop seals nothing.
    let (code, answer, _) = shop.ask("keys");
    assert_eq!((code, answer.as_str()), (0, "shop: no sealed columns\n"));

    // Killed, it says nothing; its lease runs out.
    drop(Running::start(&shop));
    let mut running = Running::start(&shop);
    shop.wait_for_state("streaming").await;
    running.0.kill().unwrap();
    let lost = shop.wait_for_state("owner_lost").await;
    assert_eq!(lost["exit_code"], 1);

    // Without --yes and without a terminal nothing is decided.
    let (code, _, complaint) = shop.ask("checkpoint reset --keep-slot");
    assert_eq!(code, 3);
    assert!(complaint.contains("--yes"), "{complaint}");
    let (code, _, complaint) = shop.ask("checkpoint reset --yes");
    assert_eq!(code, 1, "{complaint}");
    assert!(complaint.starts_with("slot_exists"), "{complaint}");
    let (code, shown) = shop.ask_json("checkpoint show");
    assert_eq!(
        (code, shown["source"].as_str()),
        (0, Some(shop.identity.as_str()))
    );
    let (code, changed) = shop.ask_json("checkpoint reset --keep-slot --yes");
    assert_eq!((code, &changed["changed"]), (0, &Value::Bool(true)));
    let (code, changed) = shop.ask_json("checkpoint reset --keep-slot --yes");
    assert_eq!((code, &changed["changed"]), (0, &Value::Bool(false)));
    let (code, _, complaint) = shop.ask("checkpoint adopt --yes");
    assert_eq!(code, 3, "{complaint}");
    let (code, _, complaint) = shop.ask("checkpoint adopt --flush-lsn 0/1 --commit-lsn 0/1 --yes");
    assert_eq!(code, 3, "{complaint}");
    let (code, answer, _) = shop.ask("checkpoint adopt --flush-lsn 0/100 --yes");
    assert_eq!((code, answer.as_str()), (0, "done, and recorded\n"));
    let (code, answer, _) = shop.ask("doctor");
    assert_eq!(code, 1);
    assert!(
        answer.contains("[XX] slot/slot_position: destination_behind_slot"),
        "{answer}"
    );
    let (code, _, complaint) = shop.ask("checkpoint skip --commit-lsn 0/1");
    assert_eq!(code, 3);
    assert!(complaint.contains("checkpoint skip"), "{complaint}");
    let (code, _, complaint) = shop.ask("status --pipeline stop");
    assert_eq!(code, 3);
    assert!(complaint.contains("there are: shop"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_make_a_destination_that_preflight_passes() {
    let shop = Shop::open().await;
    let destination = shop.cluster.connect("mirror").await.unwrap();
    let drop = "drop table order_lines, orders, products, customers";
    destination.batch_execute(drop).await.unwrap();
    assert_eq!(shop.ask_json("preflight").0, 1);

    let place = tempfile::tempdir().unwrap();
    let line = format!("migrations --tables --dir {}", place.path().display());
    let (code, written) = shop.ask_json(&line);
    assert_eq!(
        (code, &written["state"]),
        (0, &"written".into()),
        "{written}"
    );
    assert_eq!(written["files"].as_array().unwrap().len(), 3);
    let up = written["up"].as_str().unwrap();
    destination.batch_execute(up).await.unwrap();
    assert_eq!(shop.ask_json("preflight").0, 0);

    let (code, again) = shop.ask_json(&format!("{line} --check"));
    assert_eq!((code, &again["state"]), (0, &"nothing".into()), "{again}");
    let down = written["down"].as_str().unwrap();
    destination.batch_execute(down).await.unwrap();
    assert_eq!(shop.ask_json("preflight").0, 1);
}
