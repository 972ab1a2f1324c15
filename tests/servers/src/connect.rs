//! How does a test talk to its server?

use tokio_postgres::{Client, NoTls};

use crate::cluster::Cluster;
use crate::error::Error;

impl Cluster {
    /// Connection string over TCP, as superuser.
    pub fn conninfo(&self, database: &str) -> String {
        format!(
            "host=127.0.0.1 port={} user=postgres dbname={database}",
            self.port()
        )
    }

    /// Connection string over the Unix socket, as superuser.
    pub fn socket_conninfo(&self, database: &str) -> String {
        format!(
            "host={} port={} user=postgres dbname={database}",
            self.directory().display(),
            self.port()
        )
    }

    /// A session as superuser. Its connection is driven by a task of the current runtime.
    ///
    /// # Errors
    /// When the server refuses.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub async fn connect(&self, database: &str) -> Result<Client, Error> {
        connect(&self.conninfo(database)).await
    }

    /// Creates an empty database.
    ///
    /// # Errors
    /// When the server refuses, for example because it exists.
    ///
    /// # Cancel safety
    /// Not cancel safe: the database may or may not exist afterwards.
    pub async fn create_database(&self, name: &str) -> Result<(), Error> {
        let client = self.connect("postgres").await?;
        let quoted = name.replace('"', "\"\"");
        client
            .batch_execute(&format!("create database \"{quoted}\""))
            .await?;
        Ok(())
    }

    /// The server's `<system identifier>/<database>`: what a pipeline calls its source identity.
    ///
    /// # Errors
    /// When the server refuses.
    ///
    /// # Cancel safety
    /// Cancel safe: it only reads.
    pub async fn source_identity(&self, database: &str) -> Result<String, Error> {
        let client = self.connect(database).await?;
        let row = client
            .query_one(
                "select system_identifier::text from pg_catalog.pg_control_system()",
                &[],
            )
            .await?;
        let system: String = row.get(0);
        Ok(format!("{system}/{database}"))
    }
}

/// A session for any connection string without TLS.
///
/// # Errors
/// When the server refuses.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn connect(conninfo: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(conninfo, NoTls).await?;
    tokio::spawn(async move {
        // The client reports the same error to whoever waits for an answer.
        let _ = connection.await;
    });
    Ok(client)
}
