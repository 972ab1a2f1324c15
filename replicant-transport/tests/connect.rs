//! Connecting to a real server: encryption, proof of identity and refusals.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests state their expectations this way"
)]

mod cluster;

use std::time::Duration;

use cluster::{Cluster, PASSWORD, PASSWORD_IN_URI, Tls, Vars, conninfo, options, plain, secure};
use replicant_transport::connect::{ConnectOptions, Replication, sql};
use replicant_transport::error::Error;
use replicant_transport::reason::Reason;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);

/// `tls` or `plaintext`, as both kinds of session see it; they must agree, also on a refusal.
async fn encryption(options: &ConnectOptions) -> Result<&'static str, Reason> {
    let query = "select ssl from pg_catalog.pg_stat_ssl where pid operator(pg_catalog.=) pg_catalog.pg_backend_pid()";
    let opened = timeout(DEADLINE, Replication::open(options))
        .await
        .expect("an answer in time");
    let as_replication = match opened {
        Ok(mut session) => Ok(session.simple_query(query).await.unwrap()[0]
            .only()
            .unwrap()
            .flag("ssl")
            .unwrap()),
        Err(error) => Err(checked(error).reason),
    };
    let as_sql = match timeout(DEADLINE, sql(options))
        .await
        .expect("an answer in time")
    {
        Ok(session) => Ok(session
            .client
            .query_one(query, &[])
            .await
            .unwrap()
            .get::<_, bool>(0)),
        Err(error) => Err(checked(error).reason),
    };
    assert_eq!(as_replication, as_sql);
    as_sql.map(|encrypted| if encrypted { "tls" } else { "plaintext" })
}

/// An error that repeats no password.
fn checked(error: Error) -> Error {
    let told = format!("{error} {error:?}");
    assert!(
        !told.contains(PASSWORD) && !told.contains("wrong"),
        "{told}"
    );
    error
}

async fn expect(cluster: &Cluster, cases: &[(&str, &str, Result<&'static str, Reason>)]) {
    for (user, more, expected) in cases {
        let found = encryption(&options(&conninfo(cluster, user, more))).await;
        assert_eq!(found, *expected, "{user} {more}");
    }
}

#[tokio::test]
async fn each_sslmode_encrypts_or_verifies_what_it_says() {
    let cluster = secure();
    let ca = format!("sslrootcert={}", cluster.file("ca.crt"));
    let other = format!("sslrootcert={}", cluster.file("other.crt"));
    let cases = [
        ("sslmode=disable".to_owned(), Ok("plaintext")),
        ("sslmode=prefer".to_owned(), Ok("tls")),
        ("sslmode=require".to_owned(), Ok("tls")),
        (
            format!("sslmode=require {other}"),
            Err(Reason::TlsCertificateUntrusted),
        ),
        (
            format!("sslmode=prefer {other}"),
            Err(Reason::TlsCertificateUntrusted),
        ),
        (format!("sslmode=verify-ca {ca}"), Ok("tls")),
        (
            format!("sslmode=verify-ca {ca} host=other.example"),
            Ok("tls"),
        ),
        (
            format!("sslmode=verify-ca {other}"),
            Err(Reason::TlsCertificateUntrusted),
        ),
        ("sslmode=verify-ca".to_owned(), Err(Reason::TlsFileUnusable)),
        (format!("sslmode=verify-full {ca}"), Ok("tls")),
        (format!("sslmode=verify-full {ca} sslsni=0"), Ok("tls")),
        (
            format!("sslmode=verify-full {ca} ssl_max_protocol_version=TLSv1.2"),
            Ok("tls"),
        ),
        (
            format!("sslmode=verify-full {ca} ssl_min_protocol_version=TLSv1.3"),
            Ok("tls"),
        ),
        (
            format!("sslmode=verify-full {ca} host=127.0.0.1"),
            Ok("tls"),
        ),
        (
            format!("sslmode=verify-full {ca} host=127.0.0.2 hostaddr=127.0.0.2"),
            Err(Reason::TlsHostnameMismatch),
        ),
        (
            format!("sslmode=verify-full {ca} host=other.example"),
            Err(Reason::TlsHostnameMismatch),
        ),
        (
            format!("sslmode=verify-full {ca} host=not_a_name%"),
            Err(Reason::TlsHostnameMismatch),
        ),
        (
            format!("sslmode=verify-full {other}"),
            Err(Reason::TlsCertificateUntrusted),
        ),
        (
            "sslmode=verify-full sslrootcert=/nowhere".to_owned(),
            Err(Reason::TlsFileUnusable),
        ),
    ];
    for (more, expected) in cases {
        expect(cluster, &[("scram", &more, expected)]).await;
    }
}

#[tokio::test]
async fn direct_negotiation_works_where_the_server_knows_it() {
    let options = options(&conninfo(
        secure(),
        "scram",
        "sslmode=require sslnegotiation=direct",
    ));
    let usual = cluster::options(&conninfo(secure(), "scram", ""));
    let major = sql(&usual).await.unwrap().server_major();
    let found = encryption(&options).await;
    if major >= 17 {
        assert_eq!(found, Ok("tls"));
    } else {
        assert!(
            matches!(found, Err(Reason::TlsFailed | Reason::SourceUnreachable)),
            "{found:?}"
        );
    }
}

#[tokio::test]
async fn without_a_root_file_the_machines_authorities_decide() {
    for more in ["sslmode=verify-full", "sslrootcert=system"] {
        let refused = encryption(&options(&conninfo(secure(), "scram", more))).await;
        // The second on a machine that trusts nobody.
        let untrusted = [Reason::TlsCertificateUntrusted, Reason::TlsFileUnusable];
        assert!(untrusted.map(Err).contains(&refused), "{more}: {refused:?}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_reached_only_where_plaintext_is_allowed() {
    let ca = format!(
        "sslmode=verify-full sslrootcert={}",
        secure().file("ca.crt")
    );
    expect(
        plain(),
        &[
            ("scram", "sslmode=disable", Ok("plaintext")),
            ("scram", "sslmode=prefer", Ok("plaintext")),
            ("scram", "sslmode=require", Err(Reason::TlsRefused)),
            ("scram", &ca, Err(Reason::TlsRefused)),
            (
                "scram",
                "sslmode=prefer channel_binding=require",
                Err(Reason::ChannelBindingUnavailable),
            ),
            (
                "clear",
                "sslmode=prefer",
                Err(Reason::CleartextPasswordRefused),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn rules_for_one_kind_of_connection_are_respected() {
    expect(
        secure(),
        &[
            (
                "tlsonly",
                "sslmode=disable",
                Err(Reason::AuthenticationFailed),
            ),
            ("tlsonly", "sslmode=prefer", Ok("tls")),
            ("plainonly", "sslmode=prefer", Ok("plaintext")),
            (
                "plainonly",
                "sslmode=require",
                Err(Reason::AuthenticationFailed),
            ),
            // A wrong password over TLS must not be tried again in plaintext.
            (
                "tlsonly",
                "sslmode=prefer password=wrong",
                Err(Reason::AuthenticationFailed),
            ),
        ],
    )
    .await;
}

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
async fn a_self_signed_certificate_is_its_own_root_and_binds_by_the_hash_in_its_parameters() {
    let cluster = Cluster::start(Tls::SelfSignedWithPssSha512);
    let root = format!("sslrootcert={}", cluster.file("server.crt"));
    let full = format!("sslmode=verify-full channel_binding=require {root}");
    let wrong_name = format!("sslmode=verify-full host=other.example {root}");
    expect(
        &cluster,
        &[
            (
                "scram",
                "sslmode=require channel_binding=require",
                Ok("tls"),
            ),
            ("scram", &full, Ok("tls")),
            ("scram", &wrong_name, Err(Reason::TlsHostnameMismatch)),
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
