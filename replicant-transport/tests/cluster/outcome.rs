//! How does connecting turn out, for both kinds of session alike?

use std::time::Duration;

use replicant_transport::connect::{ConnectOptions, Replication, sql};
use replicant_transport::error::Error;
use replicant_transport::reason::Reason;
use tokio::time::timeout;

use super::{Cluster, PASSWORD, conninfo, options};

/// How long connecting may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// `tls` or `plaintext`, as both kinds of session see it; they must agree, also on a refusal.
pub(crate) async fn encryption(options: &ConnectOptions) -> Result<&'static str, Reason> {
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
pub(crate) fn checked(error: Error) -> Error {
    let told = format!("{error} {error:?}");
    assert!(
        !told.contains(PASSWORD) && !told.contains("wrong"),
        "{told}"
    );
    error
}

/// Each user with these further options, and what comes of it.
pub(crate) async fn expect(
    cluster: &Cluster,
    cases: &[(&str, &str, Result<&'static str, Reason>)],
) {
    for (user, more, expected) in cases {
        let found = encryption(&options(&conninfo(cluster, user, more))).await;
        assert_eq!(found, *expected, "{user} {more}");
    }
}
