//! How does a client prove who it is, and are refusals of a real server told apart?

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests state their expectations this way"
)]

mod cluster;

use cluster::outcome::{encryption, expect};
use cluster::{PASSWORD, PASSWORD_IN_URI, Vars, conninfo, options, plain, secure};
use replicant_transport::connect::{ConnectOptions, Replication, sql};
use replicant_transport::reason::Reason;

#[tokio::test]
async fn every_way_to_authenticate_is_spoken_or_refused() {
    let cluster = secure();
    let client = format!(
        "sslcert={} sslkey={}",
        cluster.file("client.crt"),
        cluster.file("client.key")
    );
    let stranger = format!(
        "sslcert={} sslkey={}",
        cluster.file("stranger.crt"),
        cluster.file("stranger.key")
    );
    let mixed = format!(
        "sslcert={} sslkey={}",
        cluster.file("client.crt"),
        cluster.file("stranger.key")
    );
    expect(
        cluster,
        &[
            (
                "scram",
                "sslmode=require channel_binding=require",
                Ok("tls"),
            ),
            (
                "scram",
                "sslmode=require channel_binding=disable",
                Ok("tls"),
            ),
            (
                "scram",
                "sslmode=disable channel_binding=require",
                Err(Reason::ChannelBindingUnavailable),
            ),
            ("scram", "password=''", Err(Reason::PasswordMissing)),
            ("scram", "password=wrong", Err(Reason::AuthenticationFailed)),
            ("scram", "require_auth=scram-sha-256", Ok("tls")),
            ("scram", "require_auth=!md5,!password,!none", Ok("tls")),
            (
                "scram",
                "require_auth=md5",
                Err(Reason::AuthenticationMethodRefused),
            ),
            ("md5", "sslmode=disable", Ok("plaintext")),
            ("md5", "sslmode=require", Ok("tls")),
            ("md5", "password=wrong", Err(Reason::AuthenticationFailed)),
            (
                "md5",
                "require_auth=!md5",
                Err(Reason::AuthenticationMethodRefused),
            ),
            (
                "md5",
                "channel_binding=require",
                Err(Reason::ChannelBindingUnavailable),
            ),
            ("clear", "sslmode=require", Ok("tls")),
            (
                "clear",
                "sslmode=disable",
                Err(Reason::CleartextPasswordRefused),
            ),
            (
                "clear",
                "sslmode=require password=wrong",
                Err(Reason::AuthenticationFailed),
            ),
            ("trusted", "", Ok("tls")),
            (
                "trusted",
                "require_auth=scram-sha-256",
                Err(Reason::AuthenticationMethodRefused),
            ),
            (
                "trusted",
                "channel_binding=require",
                Err(Reason::ChannelBindingUnavailable),
            ),
            ("certified", &client, Ok("tls")),
            ("certified", "", Err(Reason::AuthenticationFailed)),
            ("certified", &stranger, Err(Reason::TlsFailed)),
            ("certified", &mixed, Err(Reason::TlsFileUnusable)),
        ],
    )
    .await;
}

#[tokio::test]
async fn passwords_come_from_uris_files_services_and_variables() {
    let cluster = secure();
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let port = cluster.port;
    let home_only = Vars(vec![("HOME", home.path().display().to_string())]);
    let parse = |text: &str, vars: &Vars| ConnectOptions::parse(text, vars);
    let uri = format!("postgres://scram:{PASSWORD_IN_URI}@127.0.0.1:{port}/shop?sslmode=require");
    assert_eq!(
        encryption(&parse(&uri, &home_only).unwrap()).await,
        Ok("tls")
    );

    let nameless = format!("postgres://scram@127.0.0.1:{port}/shop");
    assert_eq!(
        encryption(&parse(&nameless, &home_only).unwrap()).await,
        Err(Reason::PasswordMissing)
    );

    let pgpass = format!(
        "127.0.0.1:{port}:other:scram:no\n127.0.0.1:{port}:*:scram:{}\n",
        PASSWORD.replace(':', "\\:")
    );
    std::fs::write(path(".pgpass"), pgpass).unwrap();
    set_mode(&path(".pgpass"), 0o644);
    assert_eq!(
        encryption(&parse(&nameless, &home_only).unwrap()).await,
        Err(Reason::PasswordMissing)
    );
    set_mode(&path(".pgpass"), 0o600);
    assert_eq!(
        encryption(&parse(&nameless, &home_only).unwrap()).await,
        Ok("tls")
    );

    let service = format!(
        "# shop\n[other]\nuser=nobody\n[shop]\nhost=127.0.0.1\nport={port}\nuser = scram\ndbname=shop\nsslmode=disable\n"
    );
    std::fs::write(path(".pg_service.conf"), service).unwrap();
    assert_eq!(
        encryption(&parse("service=shop", &home_only).unwrap()).await,
        Ok("plaintext")
    );

    // The string beats the service, the service beats the variables.
    let mut vars = home_only.clone();
    vars.0.extend([
        ("PGSERVICE", "shop".to_owned()),
        ("PGUSER", "md5".to_owned()),
        ("PGAPPNAME", "named".to_owned()),
    ]);
    let completed = parse("sslmode=require", &vars).unwrap();
    assert_eq!(
        (
            completed.user(),
            completed.database(),
            completed.application_name()
        ),
        ("scram", "shop", "named")
    );
    assert_eq!(encryption(&completed).await, Ok("tls"));

    vars.0.push(("PGPASSWORD", "wrong".to_owned()));
    let wrong = parse("", &vars).unwrap();
    assert!(!format!("{wrong:?}").contains("wrong"));
    assert_eq!(encryption(&wrong).await, Err(Reason::AuthenticationFailed));

    let missing = parse("service=absent", &home_only).unwrap_err();
    assert_eq!(
        (missing.reason, missing.site.option),
        (Reason::ConfigInvalid, Some("service"))
    );
    let unreadable = parse("host=/tmp passfile=/", &home_only).unwrap_err();
    assert_eq!(
        (unreadable.reason, unreadable.site.option),
        (Reason::CredentialsFileUnreadable, Some("passfile"))
    );
}

fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let cluster = plain();
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let closed = format!("port={closed}");
    let unix = format!("host={} hostaddr=''", cluster.dir.display());
    expect(
        cluster,
        &[
            ("trusted", &unix, Ok("plaintext")),
            (
                "trusted",
                "host=/nowhere hostaddr=''",
                Err(Reason::SourceUnreachable),
            ),
            ("trusted", "dbname=absent", Err(Reason::DatabaseMissing)),
            ("absent", "", Err(Reason::AuthenticationFailed)),
            ("nologin", "", Err(Reason::AuthenticationFailed)),
            ("trusted", &closed, Err(Reason::SourceUnreachable)),
            (
                "trusted",
                "host=nowhere.invalid hostaddr=''",
                Err(Reason::HostNotFound),
            ),
        ],
    )
    .await;

    let norepl = options(&conninfo(cluster, "norepl", ""));
    let refused = Replication::open(&norepl)
        .await
        .err()
        .map(|error| error.reason);
    assert_eq!(refused, Some(Reason::PrivilegeMissing));
    assert!(sql(&norepl).await.is_ok());

    // A role's connection limit does not count walsenders.
    let crowded = sql(&options(&conninfo(cluster, "crowded", ""))).await;
    let refused = crowded.err().map(|error| error.reason);
    assert_eq!(refused, Some(Reason::TooManyConnections));

    let unknown = options(&conninfo(cluster, "trusted", "")).with_setting("no_such_parameter", "1");
    let refused = sql(&unknown).await.err().unwrap();
    assert_eq!(refused.reason, Reason::ServerRefused);
    assert_eq!(refused.site.sqlstate.unwrap().as_str(), "42704");
}

#[tokio::test]
async fn the_wanted_kind_of_server_is_found_among_several() {
    let cluster = plain();
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let several = format!(
        "host=localhost,localhost hostaddr=127.0.0.1,127.0.0.1 port={closed},{}",
        cluster.port
    );
    let random = format!("{several} load_balance_hosts=random target_session_attrs=primary");
    let writable = format!("{several} target_session_attrs=read-write");
    expect(
        cluster,
        &[
            ("trusted", &several, Ok("plaintext")),
            ("trusted", &random, Ok("plaintext")),
            ("trusted", &writable, Ok("plaintext")),
            (
                "trusted",
                "target_session_attrs=standby",
                Err(Reason::SessionAttributesUnmatched),
            ),
            (
                "trusted",
                "target_session_attrs=read-only",
                Err(Reason::SessionAttributesUnmatched),
            ),
            (
                "readonly",
                "target_session_attrs=read-only",
                Ok("plaintext"),
            ),
            (
                "readonly",
                "target_session_attrs=read-write",
                Err(Reason::SessionAttributesUnmatched),
            ),
        ],
    )
    .await;
}
