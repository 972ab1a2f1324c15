//! Connecting to something that is not quite a PostgreSQL server: cut short, lying, asking for the wrong thing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests state their expectations this way"
)]

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use replicant_transport::connect::{
    ConnectOptions, Environment, FileLookup, Replication, ServerFault, sql,
};
use replicant_transport::error::Error;
use replicant_transport::reason::Reason;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(10);
const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const VERSION: &[u8] = b"S\0\0\0\x18server_version\x0013.2\0";
const KEY: &[u8] = b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x02";
const READY: &[u8] = b"Z\0\0\0\x05I";
const COPY_BOTH: &[u8] = b"W\0\0\0\x07\0\0\0";
const SASL: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";

/// Nothing around the connection string.
struct Nowhere;

impl Environment for Nowhere {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn file(&self, _path: &Path) -> FileLookup {
        FileLookup::Absent
    }
    fn user_name(&self) -> Option<String> {
        None
    }
}

/// Answers the n-th thing a client sends with the n-th part, then closes the connection.
async fn server(script: Vec<Vec<u8>>) -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        for part in script {
            hear(&mut client, &mut heard).await;
            if client.write_all(&part).await.is_err() {
                break;
            }
            if part.starts_with(OK) && part.ends_with(READY) {
                let taken = settings_taken(&heard);
                hear(&mut client, &mut heard).await;
                let _ = client.write_all(&taken).await;
            }
        }
        let _ = client.shutdown().await;
        // Everything the client still says, so that a leaked password would be seen.
        let _ = client.read_to_end(&mut heard).await;
        heard
    });
    (address, task)
}

/// The answer to which settings came from the client: all that its start asked for.
fn settings_taken(heard: &[u8]) -> Vec<u8> {
    let start = heard
        .windows(5)
        .position(|window| window == b"user\0")
        .unwrap();
    let mut texts = heard[start..].split(|byte| *byte == 0);
    let mut answer = b"T\0\0\0\x1d\0\x01name\0".to_vec();
    answer.extend_from_slice(&[0; 18]);
    while let (Some(name), Some(_value)) = (texts.next(), texts.next()) {
        if name.is_empty() {
            break;
        }
        let length = u8::try_from(name.len()).unwrap();
        answer.extend_from_slice(&[b'D', 0, 0, 0, 10 + length, 0, 1, 0, 0, 0, length]);
        answer.extend_from_slice(name);
    }
    answer.extend_from_slice(b"C\0\0\0\x0dSELECT 1\0");
    answer.extend_from_slice(READY);
    answer
}

/// One message, or as much of it as comes in one piece: every message of these exchanges does.
async fn hear(client: &mut TcpStream, heard: &mut Vec<u8>) {
    // Without room it would take 64 bytes and leave the rest for the next answer.
    heard.reserve(4096);
    let _ = client.read_buf(heard).await;
}

fn options(address: SocketAddr, more: &str) -> ConnectOptions {
    let text = format!(
        "host=127.0.0.1 port={} user=u dbname=d password=sesame sslmode=disable {more}",
        address.port()
    );
    ConnectOptions::parse(&text, &Nowhere).unwrap()
}

async fn open(script: &[&[u8]], more: &str) -> Result<Replication, Error> {
    let (address, _server) = server(script.iter().map(|part| part.to_vec()).collect()).await;
    timeout(DEADLINE, Replication::open(&options(address, more)))
        .await
        .expect("an end in time")
}

async fn reason(script: &[&[u8]], more: &str) -> Option<Reason> {
    open(script, more).await.err().map(|error| error.reason)
}

#[tokio::test]
async fn a_start_cut_at_any_byte_is_a_lost_connection() {
    let greeting = [OK, VERSION, KEY, READY].concat();
    for cut in 0..greeting.len() {
        assert_eq!(
            reason(&[&greeting[..cut]], "").await,
            Some(Reason::SourceUnreachable),
            "{cut}"
        );
    }
    let session = open(&[&greeting], "").await.unwrap();
    assert_eq!(session.server_major(), 13);
    let (address, _server) = server(vec![greeting]).await;
    assert_eq!(sql(&options(address, "")).await.unwrap().server_major(), 13);
}

#[tokio::test]
async fn an_exchange_cut_at_any_byte_is_a_lost_connection() {
    for request in [SASL, b"R\0\0\0\x0c\0\0\0\x05salt"] {
        for cut in 0..request.len() {
            assert_eq!(
                reason(&[&request[..cut]], "").await,
                Some(Reason::SourceUnreachable),
                "{cut}"
            );
        }
        assert_eq!(
            reason(&[request, b""], "").await,
            Some(Reason::SourceUnreachable)
        );
    }
}

#[tokio::test]
async fn answers_and_streams_cut_at_any_byte_hand_out_whole_messages_only() {
    let greeting = [OK, VERSION, KEY, READY].concat();
    let stream = [
        COPY_BOTH,
        b"d\0\0\0\x07one",
        b"N\0\0\0\x05\0",
        b"d\0\0\0\x07two",
    ]
    .concat();
    for cut in 0..=stream.len() {
        let session = open(&[&greeting, &stream[..cut]], "").await.unwrap();
        let started = timeout(DEADLINE, session.start_streaming("START"))
            .await
            .expect("an end in time");
        let Ok(both) = started else {
            assert!(cut < COPY_BOTH.len());
            assert_eq!(started.err(), Some(ServerFault::ConnectionLost));
            continue;
        };
        let (mut reader, _writer) = both.split();
        let mut payloads = Vec::new();
        let broken = loop {
            match reader.next_copy_data() {
                Ok(Some(payload)) => payloads.push(payload),
                // The error of a read is told once more by the next request.
                Ok(None) => drop(
                    timeout(DEADLINE, reader.fill())
                        .await
                        .expect("an end in time"),
                ),
                Err(error) => break error,
            }
        };
        let whole = [COPY_BOTH.len() + 8, stream.len()]
            .iter()
            .filter(|end| cut >= **end)
            .count();
        assert_eq!(payloads, [&b"one"[..], b"two"][..whole], "{cut}");
        assert_eq!(broken.reason, Reason::SourceUnreachable);
        assert_eq!(reader.fill().await, Err(broken));
    }
}

#[tokio::test]
async fn the_end_of_a_stream_and_an_error_in_it_stay() {
    let greeting = [OK, VERSION, KEY, READY].concat();
    for (last, expected) in [
        (&b"c\0\0\0\x04"[..], Reason::StreamEnded),
        (b"C\0\0\0\x0bCOPY 0\0", Reason::StreamEnded),
        (
            b"E\0\0\0\x18C57P01\0Msecret text\0\0",
            Reason::ServerUnavailable,
        ),
        (
            b"E\0\0\0\x18C42704\0Msecret text\0\0",
            Reason::ServerRefused,
        ),
        (b"D\0\0\0\x06\0\0", Reason::ProtocolViolation),
        (b"d\x7f\xff\xff\xff", Reason::ProtocolViolation),
        (b"d\0\0\0\x03", Reason::ProtocolViolation),
    ] {
        let stream = [COPY_BOTH, b"d\0\0\0\x07one", last, b"d\0\0\0\x07two"].concat();
        let session = open(&[&greeting, &stream], "").await.unwrap();
        let (mut reader, _writer) = session.start_streaming("START").await.unwrap().split();
        while reader.buffered() < stream.len() - COPY_BOTH.len() {
            timeout(DEADLINE, reader.fill())
                .await
                .expect("bytes in time")
                .unwrap();
        }
        assert_eq!(reader.next_copy_data().unwrap().unwrap(), "one");
        for _ in 0..2 {
            let error = reader.next_copy_data().unwrap_err();
            assert_eq!(error.reason, expected);
            assert!(!format!("{error} {error:?}").contains("secret"));
        }
        assert_eq!(reader.fill().await.unwrap_err().reason, expected);
    }
}

#[tokio::test]
async fn what_refuses_or_drops_the_settings_of_a_session_is_no_server() {
    let refusal = b"E\0\0\0\x27SFATAL\0C08P01\0Munsupported sesame\0\0";
    let error = open(&[refusal], "").await.err().unwrap();
    assert_eq!(error.reason, Reason::SessionSettingsRefused);
    assert_eq!(error.site.sqlstate.unwrap().as_str(), "08P01");
    assert!(!format!("{error} {error:?}").contains("sesame"));

    // It takes the login and knows nothing of the rest.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        for part in [
            [OK, VERSION, KEY, READY].concat(),
            settings_taken(b"user\0u\0client_encoding\0UTF8\0\0"),
        ] {
            hear(&mut client, &mut heard).await;
            client.write_all(&part).await.unwrap();
        }
        let _ = client.read_to_end(&mut heard).await;
    });
    let error = sql(&options(address, "")).await.err().unwrap();
    assert_eq!(error.reason, Reason::SessionSettingsRefused);
    let shown = error.to_string();
    assert!(shown.contains("DateStyle") && shown.contains("search_path"));
    assert!(!shown.contains("client_encoding"), "{shown}");
}

#[tokio::test]
async fn lies_are_refused_and_the_password_stays_here() {
    let scram = [SASL, OK].concat();
    let cases: [(&str, &[&[u8]], Reason); 15] = [
        ("", &[b"R\x7f\xff\xff\xff"], Reason::ProtocolViolation),
        ("", &[b"R\0\0\0\x02"], Reason::ProtocolViolation),
        ("", &[b"R\0\0\0\x04"], Reason::ProtocolViolation),
        (
            "",
            &[b"HTTP/1.1 400 Bad Request\r\n\r\n"],
            Reason::ProtocolViolation,
        ),
        ("", &[b"D\0\0\0\x06\0\0"], Reason::ProtocolViolation),
        (
            "",
            &[b"R\0\0\0\x08\0\0\0\x07"],
            Reason::AuthenticationMethodRefused,
        ),
        (
            "",
            &[b"R\0\0\0\x08\0\0\0\x09"],
            Reason::AuthenticationMethodRefused,
        ),
        (
            "",
            &[b"R\0\0\0\x08\0\0\0\x63"],
            Reason::AuthenticationMethodRefused,
        ),
        (
            "",
            &[b"R\0\0\0\x0f\0\0\0\x0aOTHER\0\0"],
            Reason::AuthenticationMethodRefused,
        ),
        (
            "",
            &[b"R\0\0\0\x08\0\0\0\x03"],
            Reason::CleartextPasswordRefused,
        ),
        ("", &[b"R\0\0\0\x0a\0\0\0\x05xx"], Reason::ProtocolViolation),
        // Says "ok" without proof that it knows the password.
        ("", &[&scram], Reason::ServerNotAuthentic),
        (
            "",
            &[SASL, b"R\0\0\0\x11\0\0\0\x0br=x,s=eA=,i=1"],
            Reason::ProtocolViolation,
        ),
        (
            "require_auth=scram-sha-256",
            &[OK],
            Reason::AuthenticationMethodRefused,
        ),
        // Asks again, for something weaker.
        (
            "",
            &[b"R\0\0\0\x0c\0\0\0\x05salt", b"R\0\0\0\x08\0\0\0\x03"],
            Reason::ProtocolViolation,
        ),
    ];
    for (index, (more, script, expected)) in cases.into_iter().enumerate() {
        let (address, server) = server(script.iter().map(|part| part.to_vec()).collect()).await;
        let opened = timeout(DEADLINE, Replication::open(&options(address, more)))
            .await
            .expect("an end in time");
        let error = opened.err().unwrap();
        assert_eq!(error.reason, expected, "case {index}");
        assert!(!format!("{error} {error:?}").contains("sesame"));
        let heard = server.await.unwrap();
        assert!(
            !heard.windows(6).any(|window| window == b"sesame"),
            "case {index}"
        );
    }
}

#[tokio::test]
async fn answers_to_a_request_for_tls_are_taken_literally() {
    for (answer, more, expected) in [
        (&b"N"[..], "sslmode=require", Reason::TlsRefused),
        (b"X", "sslmode=require", Reason::ProtocolViolation),
        (b"X", "sslmode=prefer", Reason::ProtocolViolation),
        (b"E", "sslmode=require", Reason::ServerUnavailable),
        (b"", "sslmode=prefer", Reason::SourceUnreachable),
        // Plaintext smuggled in behind the answer never reaches the session.
        (
            b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I",
            "sslmode=prefer",
            Reason::TlsFailed,
        ),
    ] {
        assert_eq!(
            reason(&[answer], more).await,
            Some(expected),
            "{answer:?} {more}"
        );
    }
    let greeting = [OK, VERSION, KEY, READY].concat();
    assert!(open(&[b"N", &greeting], "sslmode=prefer").await.is_ok());
}

#[tokio::test]
async fn a_silent_server_is_given_up_after_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let error = Replication::open(&options(address, "connect_timeout=1"))
        .await
        .err()
        .unwrap();
    assert_eq!(error.reason, Reason::ConnectTimeout);
}

#[tokio::test]
async fn a_cut_answer_to_a_statement_is_a_lost_connection() {
    let greeting = [OK, VERSION, KEY, READY].concat();
    let mut answer = b"T\0\0\0\x1a\0\x01a\0".to_vec();
    answer.extend_from_slice(&[0; 18]);
    answer.extend_from_slice(b"D\0\0\0\x0b\0\x01\0\0\0\x017C\0\0\0\x0dSELECT 1\0");
    answer.extend_from_slice(READY);
    answer[4] = 4 + 2 + 2 + 18;
    for cut in 0..=answer.len() {
        let mut session = open(&[&greeting, &answer[..cut]], "").await.unwrap();
        let answered = timeout(DEADLINE, session.simple_query("select 7 as a"))
            .await
            .expect("an end in time");
        if cut == answer.len() {
            assert_eq!(
                answered.unwrap()[0].only().unwrap().required::<i32>("a"),
                Ok(7)
            );
        } else {
            assert_eq!(answered.unwrap_err(), ServerFault::ConnectionLost, "{cut}");
        }
    }
    // Rows before their description, and a message from nowhere.
    for odd in [
        &b"D\0\0\0\x06\0\0"[..],
        b"W\0\0\0\x07\0\0\0",
        b"Z\0\0\0\x01",
    ] {
        let mut session = open(&[&greeting, odd], "").await.unwrap();
        assert_eq!(
            session.simple_query("select 1").await.unwrap_err(),
            ServerFault::Unexpected
        );
    }
}
