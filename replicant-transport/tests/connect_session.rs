//! A session with a real server: its settings, its statements and its stream.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests state their expectations this way"
)]

mod cluster;

use std::time::Duration;

use cluster::{conninfo, options, plain, secure};
use replicant_transport::connect::{
    CopyReader, Replication, ServerFault, SqlSession, classify, sql,
};
use replicant_transport::error::Error;
use replicant_transport::reason::Reason;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn settings_are_pinned_whatever_the_role_or_the_options_say() {
    let output = [
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, YMD"),
        ("IntervalStyle", "postgres"),
        ("TimeZone", "UTC"),
        ("extra_float_digits", "3"),
        ("bytea_output", "hex"),
        ("xmlbinary", "base64"),
        ("lc_monetary", "C"),
        ("search_path", ""),
        ("statement_timeout", "0"),
    ];
    let source = [
        ("lock_timeout", "0"),
        ("idle_in_transaction_session_timeout", "0"),
        ("synchronous_commit", "off"),
    ];
    let destination = [
        ("array_nulls", "on"),
        ("xmloption", "content"),
        ("standard_conforming_strings", "on"),
        ("transform_null_equals", "off"),
        ("lock_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "1min"),
        ("synchronous_commit", "on"),
        ("row_security", "off"),
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        ("enable_seqscan", "off"),
        ("default_transaction_isolation", "read committed"),
    ];
    let hostile = options(&conninfo(
        plain(),
        "hostile",
        "options='-c DateStyle=SQL,DMY -c TimeZone=Asia/Tokyo'",
    ));
    let named = hostile
        .clone()
        .with_application_name("named")
        .with_setting("lock_timeout", "7s");

    let mut session = Replication::open(&hostile.clone().for_source())
        .await
        .unwrap();
    for (name, value) in output.iter().chain(&source) {
        let shown = session.simple_query(&format!("show {name}")).await.unwrap();
        let row = shown[0].only().unwrap();
        assert_eq!(
            row.text(&shown[0].columns()[0]).unwrap(),
            Some(*value),
            "{name}"
        );
    }
    if session.server_major() >= 14 {
        let shown = session
            .simple_query("show idle_session_timeout")
            .await
            .unwrap();
        assert_eq!(
            shown[0].only().unwrap().text("idle_session_timeout"),
            Ok(Some("0"))
        );
    }
    let session = sql(&hostile.for_destination()).await.unwrap();
    for (name, value) in output.iter().chain(&destination) {
        assert_eq!(show(&session, name).await, *value, "{name}");
    }
    let session = sql(&named).await.unwrap();
    assert_eq!(show(&session, "application_name").await, "named");
    assert_eq!(show(&session, "lock_timeout").await, "7s");
}

async fn show(session: &SqlSession, name: &str) -> String {
    session
        .client
        .query_one(&format!("show {name}"), &[])
        .await
        .unwrap()
        .get(0)
}

#[tokio::test]
async fn statements_fail_with_a_condition_or_a_lost_connection_and_nothing_else() {
    let options = options(&conninfo(secure(), "trusted", ""));
    let mut session = Replication::open(&options).await.unwrap();
    let fault = session
        .simple_query("select 1; select 'secret'::int")
        .await
        .unwrap_err();
    assert_eq!(fault.sqlstate().unwrap().as_str(), "22P02");
    assert!(!format!("{fault} {fault:?}").contains("secret"));
    let sets = session
        .simple_query("select 1 as a, null as b; select 2 as c")
        .await
        .unwrap();
    assert_eq!(sets.len(), 2);
    assert_eq!(sets[1].only().unwrap().required::<i32>("c"), Ok(2));
    assert!(session.server_major() >= 12);

    // A future dropped half-way leaves an answer on its way: the session refuses to mistake it for the next one.
    let dropped = timeout(
        Duration::from_millis(50),
        session.simple_query("select pg_catalog.pg_sleep(1)"),
    )
    .await;
    assert!(dropped.is_err());
    assert_eq!(
        session.simple_query("select 1").await.unwrap_err(),
        ServerFault::ConnectionLost
    );

    let session = sql(&options).await.unwrap();
    let fault = classify(&session.client.simple_query("select 1/0").await.unwrap_err());
    assert_eq!(fault.sqlstate().unwrap().as_str(), "22012");
    let mistaken = session
        .client
        .query_one("select 1::int4", &[])
        .await
        .unwrap()
        .try_get::<_, String>(0);
    assert_eq!(classify(&mistaken.unwrap_err()), ServerFault::Unexpected);
    let end = "select pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())";
    let fault = classify(&session.client.simple_query(end).await.unwrap_err());
    assert_eq!(Error::from(fault).reason, Reason::ServerUnavailable);
    let fault = classify(&session.client.simple_query("select 1").await.unwrap_err());
    assert_eq!(fault, ServerFault::ConnectionLost);
}

#[tokio::test]
async fn a_stream_carries_changes_one_way_and_positions_the_other() {
    for (user, more) in [("trusted", "sslmode=disable"), ("scram", "sslmode=require")] {
        let cluster = secure();
        let slot = format!("slot_{user}");
        let options = options(&conninfo(cluster, user, more));
        let writer = sql(&cluster::options(&conninfo(cluster, "trusted", "")))
            .await
            .unwrap();
        let setup = format!(
            "create table public.{slot} (id int); create publication {slot} for table public.{slot}"
        );
        writer.client.batch_execute(&setup).await.unwrap();
        let mut session = Replication::open(&options).await.unwrap();
        let create =
            format!("CREATE_REPLICATION_SLOT {slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT");
        let created = session.simple_query(&create).await.unwrap();
        assert_eq!(
            created[0].only().unwrap().text("slot_name"),
            Ok(Some(slot.as_str()))
        );
        let insert = format!("insert into public.{slot} select generate_series(1, 2000)");
        writer.client.batch_execute(&insert).await.unwrap();

        let start = format!(
            "START_REPLICATION SLOT {slot} LOGICAL 0/0 (proto_version '1', publication_names '{slot}')"
        );
        let (mut reader, mut sender) = session.start_streaming(&start).await.unwrap().split();
        let mut inserts = 0;
        let mut dropped = 0;
        while inserts < 2000 {
            while let Some(payload) = reader.next_copy_data().unwrap() {
                // XLogData is a header of 25 bytes and a pgoutput message.
                inserts += usize::from(payload[0] == b'w' && payload[25] == b'I');
            }
            // Most reads are given up at once; none of their bytes may be lost.
            match timeout(Duration::ZERO, reader.fill()).await {
                Ok(read) => assert!(read.unwrap() > 0),
                Err(_) => dropped += 1,
            }
            assert!(dropped < 50_000_000);
            tokio::task::yield_now().await;
        }
        let mut status = vec![b'r'];
        status.extend_from_slice(&[0; 32]);
        status.push(1);
        sender.send(&status).await.unwrap();
        // We asked for an answer, so behind the rest of the transaction a keepalive comes; then the end in good order,
        // for ever.
        while next(&mut reader).await.unwrap()[0] != b'k' {}
        sender.finish().await.unwrap();
        let ended = loop {
            match next(&mut reader).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(ended.reason, Reason::StreamEnded);
        assert_eq!(reader.fill().await.unwrap_err(), ended);
        assert_eq!(reader.next_copy_data().unwrap_err(), ended);
    }
}

async fn next(reader: &mut CopyReader) -> Result<Vec<u8>, Error> {
    let read = async {
        loop {
            if let Some(payload) = reader.next_copy_data()? {
                return Ok(payload.to_vec());
            }
            reader.fill().await?;
        }
    };
    timeout(DEADLINE, read).await.expect("an answer in time")
}

#[tokio::test]
async fn a_refused_stream_names_its_condition() {
    let options = options(&conninfo(plain(), "trusted", ""));
    let session = Replication::open(&options).await.unwrap();
    let start = "START_REPLICATION SLOT absent LOGICAL 0/0";
    let fault = session.start_streaming(start).await.err().unwrap();
    assert_eq!(fault.sqlstate().unwrap().as_str(), "42704");
}
