//! Which sessions are encrypted, and whose certificate is believed?

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests state their expectations this way"
)]

mod cluster;

use cluster::outcome::{encryption, expect};
use cluster::{Cluster, Tls, conninfo, options, plain, secure};
use replicant_transport::connect::sql;
use replicant_transport::reason::Reason;

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
