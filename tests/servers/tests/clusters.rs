//! Do private servers start, survive, end, and fail on command?

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use replicant_test_servers::{
    Cluster, Direction, Door, Flow, Proxy, Shutdown, connect::connect, wait_for, wait_for_true,
};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_cluster_is_ready_for_logical_replication_and_keeps_its_rows_over_a_kill() {
    let mut cluster = Cluster::start_default().expect("a server");
    cluster.create_database("shop").await.expect("a database");
    let client = cluster.connect("shop").await.expect("a session");
    let level: String = client
        .query_one("show wal_level", &[])
        .await
        .expect("an answer")
        .get(0);
    assert_eq!(level, "logical");
    client
        .batch_execute("create table kept (id int); insert into kept values (1)")
        .await
        .expect("a row");

    cluster.kill().expect("killed");
    assert!(cluster.connect("shop").await.is_err(), "nobody answers");
    cluster.start().expect("crash recovery");
    let client = cluster.connect("shop").await.expect("a session");
    wait_for_true(&client, "select count(*) = 1 from kept", SOON)
        .await
        .expect("the row survived");

    cluster.restart().expect("restarted");
    cluster.stop(Shutdown::Immediate).expect("stopped");
    cluster
        .stop(Shutdown::Fast)
        .expect("stopping twice is harmless");
}

#[tokio::test]
async fn both_doors_lead_to_the_same_server_and_it_tells_its_identity() {
    let cluster = Cluster::start_default().expect("a server");
    let by_tcp = connect(&cluster.conninfo("postgres")).await.expect("TCP");
    let by_socket = connect(&cluster.socket_conninfo("postgres"))
        .await
        .expect("Unix socket");
    let pid = "select pg_catalog.pg_backend_pid()";
    let one: i32 = by_tcp.query_one(pid, &[]).await.expect("answer").get(0);
    let two: i32 = by_socket.query_one(pid, &[]).await.expect("answer").get(0);
    assert_ne!(one, two);
    let identity = cluster.source_identity("postgres").await.expect("identity");
    let (system, database) = identity.split_once('/').expect("two parts");
    assert!(system.parse::<u64>().is_ok(), "{identity}");
    assert_eq!(database, "postgres");
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let cluster = Cluster::start_default().expect("a server");
    let directory = cluster.directory().to_path_buf();
    let pid = std::fs::read_to_string(directory.join("data/postmaster.pid")).expect("a pid file");
    let pid = pid.lines().next().expect("a pid").to_owned();
    assert!(alive(&pid));
    drop(cluster);
    assert!(!alive(&pid), "the server ended");
    assert!(!directory.exists(), "its directory is gone");
}

#[tokio::test]
async fn a_server_ends_with_its_process_even_when_that_is_killed() {
    let mut owner = Command::new(env!("CARGO_BIN_EXE_private-postgres"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the owner starts");
    let mut conninfo = String::new();
    let output = owner.stdout.take().expect("its output");
    BufReader::new(output)
        .read_line(&mut conninfo)
        .expect("a connection string");
    let client = connect(conninfo.trim()).await.expect("a session");
    let directory: String = client
        .query_one("show unix_socket_directories", &[])
        .await
        .expect("an answer")
        .get(0);
    owner.kill().expect("SIGKILL");
    owner.wait().expect("it ended");
    wait_for("server and directory to go", SOON, async || {
        (client.is_closed() && !Path::new(&directory).exists()).then_some(())
    })
    .await
    .expect("nothing is left");
}

#[tokio::test]
async fn a_proxy_stalls_cuts_and_refuses() {
    let cluster = Cluster::start_default().expect("a server");
    let proxy = Proxy::to_port(cluster.port()).await.expect("a proxy");
    let through = format!(
        "host=127.0.0.1 port={} user=postgres dbname=postgres",
        proxy.port()
    );
    let client = connect(&through).await.expect("through the proxy");
    assert!(client.simple_query("select 1").await.is_ok());

    proxy.set(Direction::ToClient, Flow::Stall);
    let stalled =
        tokio::time::timeout(Duration::from_millis(300), client.simple_query("select 2")).await;
    assert!(stalled.is_err(), "an answer came through a stalled network");
    proxy.set(Direction::ToClient, Flow::Pass);
    assert!(client.simple_query("select 3").await.is_ok());

    proxy.cut();
    assert!(client.simple_query("select 4").await.is_err());
    wait_for("the connection to close", SOON, async || {
        (proxy.open() == 0).then_some(())
    })
    .await
    .expect("closed");

    proxy.door(Door::Closed);
    assert!(connect(&through).await.is_err(), "the door is closed");
    proxy.door(Door::Open);
    let client = connect(&through).await.expect("open again");
    proxy.set(Direction::ToClient, Flow::CutAfter { bytes: 1000 });
    let long = client
        .query_one("select pg_catalog.repeat('x', 100000)", &[])
        .await;
    assert!(long.is_err(), "cut in the middle of the answer");
}

#[tokio::test]
async fn waiting_in_vain_says_for_what() {
    let error = wait_for(
        "a blue moon",
        Duration::from_millis(20),
        async || None::<()>,
    )
    .await
    .expect_err("it never comes");
    assert!(error.to_string().contains("a blue moon"), "{error}");
}

/// A zombie counts as ended.
fn alive(pid: &str) -> bool {
    Command::new("ps")
        .args(["-o", "stat=", "-p", pid])
        .output()
        .is_ok_and(|output| {
            let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            !state.is_empty() && !state.starts_with('Z')
        })
}
