//! Which tables the checkpoint is made of, and how they come to exist.
//!
//! - **The source's system identifier is text.** It is an unsigned 64-bit number, so `bigint` cannot hold it; it is
//!   compared and never computed with, and canonical decimal text needs no numeric codec. Key columns have the "C"
//!   collation: equality is equality of bytes whatever the database's default is.
//! - **Positions are bigint**: a WAL location reaches 2^63 after eight exbibytes.
//! - **The watermark table has fillfactor 10** and no index on what changes, so that each advance is a heap-only
//!   update that finds room on its own page.
//! - **Epochs come from a sequence** and not from the row: a checkpoint that was reset and bound again must not hand
//!   out an epoch that a paused owner still carries.

use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, Literal};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::transaction::{BEGIN, Open};
use super::{Fault, Store};
use crate::error::Error;
use crate::reason::Reason;

/// The format this release reads and writes.
const FORMAT: i32 = 3;

/// Every migration takes this advisory lock, so that two of them cannot interleave.
const MIGRATION_LOCK: i64 = 0x7265_706C_6963_616E;

const TABLES: [&str; 7] = [
    "replicant_watermarks",
    "replicant_contracts",
    "replicant_leases",
    "replicant_tables",
    "replicant_targets",
    "replicant_decisions",
    "replicant_format",
];

/// What a migration did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Migrated {
    /// The tables were created.
    Created,
    /// The tables existed in an older format and were brought to this one.
    Upgraded,
    /// The tables existed; the declared role was given its privilege.
    Granted,
    /// Nothing was missing and nothing was written.
    Unchanged,
}

impl Store {
    /// The format that this release reads and writes.
    pub const FORMAT: i32 = FORMAT;

    /// Creates what is missing or brings an older format to this one, in one transaction.
    ///
    /// Running it again changes nothing. Two at the same time run one after the other.
    ///
    /// # Errors
    /// `checkpoint_format_unknown` when a newer release wrote the tables; `checkpoint_refused` when the role may not
    /// create them.
    ///
    /// # Cancel safety
    /// Dropping the future rolls everything back.
    pub async fn migrate(&self, client: &mut Client) -> Result<Migrated, Error> {
        let open = Open::new(client);
        let client = open.client();
        let lock = format!("{BEGIN}; select pg_catalog.pg_advisory_xact_lock({MIGRATION_LOCK})");
        client.batch_execute(&lock).await?;
        let migrated = match self.format(client).await? {
            None => {
                self.create(client).await?;
                Migrated::Created
            }
            Some(FORMAT) if self.grant_is_missing(client).await? => {
                client.batch_execute(&self.grants()).await?;
                Migrated::Granted
            }
            Some(FORMAT) => Migrated::Unchanged,
            Some(other) => {
                let upgrade = self.upgrade_ddl(other);
                let upgrade = upgrade.ok_or_else(|| unknown_format(other))?;
                client.batch_execute(&upgrade).await?;
                client.batch_execute(&self.grants()).await?;
                Migrated::Upgraded
            }
        };
        open.commit().await?;
        Ok(migrated)
    }

    /// The statements a first migration runs, for documentation and review.
    pub fn ddl(&self) -> String {
        format!(
            "create schema {};\n\n{}{}",
            self.schema.quoted(),
            self.tables_ddl(),
            self.grants()
        )
    }

    /// The statements that bring an older format to this one; `None` for one this release does not know or has.
    pub fn upgrade_ddl(&self, from: i32) -> Option<String> {
        match from {
            1 => Some(format!(
                "{};\n{}",
                self.second_format(),
                self.third_format()
            )),
            2 => Some(self.third_format()),
            _ => None,
        }
    }

    /// The statements that let one role read the tables.
    pub fn grant_ddl(&self, role: &Ident) -> String {
        format!(
            "grant usage on schema {schema} to {role};\ngrant select on {tables} to {role};\n",
            schema = self.schema.quoted(),
            role = role.quoted(),
            tables = self.every_table(),
        )
    }

    /// The statements that take that back.
    pub fn revoke_ddl(&self, role: &Ident) -> String {
        format!(
            "revoke select on {tables} from {role};\nrevoke usage on schema {schema} from {role};\n",
            schema = self.schema.quoted(),
            role = role.quoted(),
            tables = self.every_table(),
        )
    }

    /// The statements that undo a first migration, and forget how far every mirror is.
    ///
    /// A schema that holds anything else is refused by the server.
    pub fn drop_ddl(&self) -> String {
        format!(
            "drop table {};\ndrop sequence {};\ndrop schema {};\n",
            self.every_table(),
            self.table("replicant_epochs"),
            self.schema.quoted(),
        )
    }

    fn every_table(&self) -> String {
        TABLES.map(|name| self.table(name)).join(", ")
    }

    /// Format 2 stores which source tables and columns the names stood for.
    fn second_format(&self) -> String {
        format!(
            "alter table {} add column if not exists source_oid pg_catalog.int8, \
             add column if not exists source_columns pg_catalog.text collate pg_catalog.\"C\"",
            self.table("replicant_tables"),
        )
    }

    /// Format 3 stores since when an owner owns a slot, and how far a history was recorded before its checkpoint.
    fn third_format(&self) -> String {
        format!(
            "alter table {} add column if not exists owned_since pg_catalog.timestamptz; \
             alter table {} add column if not exists recorded_until pg_catalog.int8; \
             update {} set version = 3",
            self.table("replicant_leases"),
            self.table("replicant_tables"),
            self.table("replicant_format"),
        )
    }

    async fn create(&self, client: &Client) -> Result<(), Error> {
        // CREATE SCHEMA IF NOT EXISTS asks for the privilege to create one even when it exists.
        let exists = client
            .query_typed_opt(
                "select from pg_catalog.pg_namespace where nspname = $1::pg_catalog.text",
                &[(&self.schema.as_str(), Type::TEXT)],
            )
            .await?;
        if exists.is_none() {
            let schema = format!("create schema {}", self.schema.quoted());
            client.batch_execute(&schema).await?;
        }
        client.batch_execute(&self.tables_ddl()).await?;
        self.undo_default_privileges(client).await?;
        client.batch_execute(&self.grants()).await?;
        Ok(())
    }

    /// ALTER DEFAULT PRIVILEGES can have given the new tables to other roles; nobody declared that.
    async fn undo_default_privileges(&self, client: &Client) -> Result<(), Error> {
        let rows = client
            .query_typed(
                "select distinct rel.relname::pg_catalog.text, rel.relkind = 'S', \
                 pg_catalog.pg_get_userbyid(acl.grantee)::pg_catalog.text \
                 from pg_catalog.pg_class as rel \
                 join pg_catalog.pg_namespace as nsp on nsp.oid = rel.relnamespace \
                 cross join lateral pg_catalog.aclexplode(rel.relacl) as acl \
                 where nsp.nspname = $1::pg_catalog.name and rel.relname like 'replicant\\_%' \
                 and acl.grantee <> rel.relowner and acl.grantee <> 0",
                &[(&self.schema.as_str(), Type::TEXT)],
            )
            .await?;
        for row in rows {
            let ident = |index| -> Result<Ident, Error> {
                Ident::new(row.try_get(index)?).map_err(|_| Reason::CheckpointInvalid.into())
            };
            let kind = match row.try_get(1)? {
                true => "sequence",
                false => "table",
            };
            let revoke = format!(
                "revoke all on {kind} {}.{} from {}",
                self.schema.quoted(),
                ident(0)?.quoted(),
                ident(2)?.quoted()
            );
            client.batch_execute(&revoke).await?;
        }
        Ok(())
    }

    /// Can this release read what is stored?
    ///
    /// # Errors
    /// `checkpoint_not_migrated` when the tables do not exist or are of an older format; `checkpoint_format_unknown`.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn readable(&self, client: &Client) -> Result<(), Error> {
        self.check_format(client).await
    }

    /// Refuses tables that are missing or were written by another release, inside any transaction.
    pub(super) async fn check_format(&self, client: &Client) -> Result<(), Error> {
        let sql = format!("select version from {}", self.table("replicant_format"));
        match client.query_typed_one(&sql, &[]).await {
            Ok(row) => match row.try_get(0)? {
                FORMAT => Ok(()),
                1 | 2 => Err(Reason::CheckpointNotMigrated.into()),
                other => Err(unknown_format(other)),
            },
            Err(error) => Err(match Fault::of(&error) {
                // undefined_table, invalid_schema_name
                Fault::Refused(Some(state)) if matches!(state.as_str(), "42P01" | "3F000") => {
                    Reason::CheckpointNotMigrated.into()
                }
                fault => fault.into(),
            }),
        }
    }

    /// The format of the stored tables, `None` when there are none.
    async fn format(&self, client: &Client) -> Result<Option<i32>, Error> {
        let table = self.table("replicant_format");
        let row = client
            .query_typed_one(
                "select pg_catalog.to_regclass($1) is not null",
                &[(&table, Type::TEXT)],
            )
            .await?;
        if !row.try_get::<_, bool>(0)? {
            return Ok(None);
        }
        let row = client
            .query_typed_one(&format!("select version from {table}"), &[])
            .await?;
        Ok(Some(row.try_get(0)?))
    }

    async fn grant_is_missing(&self, client: &Client) -> Result<bool, Error> {
        let Some(role) = &self.select_grant else {
            return Ok(false);
        };
        let tables: Vec<String> = TABLES.iter().map(|name| self.table(name)).collect();
        let row = client
            .query_typed_one(
                "select not pg_catalog.has_schema_privilege($1::pg_catalog.name, $2::pg_catalog.text, 'usage') \
                 or exists (select from pg_catalog.unnest($3) as named(tab) \
                 where not pg_catalog.has_table_privilege($1::pg_catalog.name, tab, 'select'))",
                &[
                    (&role.as_str(), Type::TEXT),
                    (&self.schema.as_str(), Type::TEXT),
                    (&tables, Type::TEXT_ARRAY),
                ],
            )
            .await?;
        Ok(row.try_get(0)?)
    }

    fn grants(&self) -> String {
        match &self.select_grant {
            Some(role) => format!("\n{}", self.grant_ddl(role)),
            None => String::new(),
        }
    }

    /// `nextval('...')` of the epoch sequence.
    pub(super) fn next_epoch(&self) -> String {
        let sequence = self.table("replicant_epochs");
        format!(
            "pg_catalog.nextval({}::pg_catalog.regclass)",
            Literal(&sequence)
        )
    }

    fn tables_ddl(&self) -> String {
        let schema = self.schema.quoted();
        let tables = self.every_table();
        let text = "pg_catalog.text collate pg_catalog.\"C\"";
        let key = format!(
            "system_id {text} not null check (system_id ~ '^[1-9][0-9]{{0,19}}$'),\n    \
             database {text} not null,\n    \
             slot {text} not null unique"
        );
        format!(
            r#"create table {schema}.replicant_watermarks (
    {key},
    watermark pg_catalog.int8 check (watermark >= 0),
    acked_end pg_catalog.int8 check (acked_end >= 0),
    message_end pg_catalog.int8 check (message_end >= 0),
    epoch pg_catalog.int8 not null,
    primary key (system_id, database, slot)
) with (fillfactor = 10);

create table {schema}.replicant_contracts (
    {key},
    timeline pg_catalog.int8 not null,
    manifest pg_catalog.bytea not null,
    fingerprint pg_catalog.bytea not null,
    bound_at pg_catalog.timestamptz not null default pg_catalog.clock_timestamp(),
    primary key (system_id, database, slot)
);

create table {schema}.replicant_leases (
    {key},
    owner pg_catalog.text,
    owned_since pg_catalog.timestamptz,
    epoch pg_catalog.int8 not null,
    expires_at pg_catalog.timestamptz not null,
    heartbeat_at pg_catalog.timestamptz,
    status pg_catalog.jsonb,
    terminal_cause pg_catalog.text,
    terminal_class pg_catalog.text,
    terminal_at pg_catalog.timestamptz,
    primary key (system_id, database, slot)
) with (fillfactor = 50);

create table {schema}.replicant_tables (
    slot {text} not null,
    source_schema {text} not null,
    source_table {text} not null,
    completeness {text} not null check (completeness in ('complete', 'filling', 'open')),
    source_oid pg_catalog.int8,
    source_columns {text},
    recorded_until pg_catalog.int8,
    primary key (slot, source_schema, source_table)
);

create table {schema}.replicant_targets (
    target_schema {text} not null,
    target_table {text} not null,
    slot {text} not null,
    primary key (target_schema, target_table)
);

create table {schema}.replicant_decisions (
    id pg_catalog.int8 generated always as identity primary key,
    decided_at pg_catalog.timestamptz not null default pg_catalog.clock_timestamp(),
    decided_by {text} not null default session_user,
    system_id {text} not null,
    database {text} not null,
    slot {text} not null,
    decision {text} not null,
    fact {text} not null
);

create table {schema}.replicant_format (
    version pg_catalog.int4 not null
);
insert into {schema}.replicant_format (version) values ({FORMAT});

create sequence {schema}.replicant_epochs as pg_catalog.int8;

revoke all on {tables} from public;
revoke all on sequence {schema}.replicant_epochs from public;
"#
        )
    }
}

fn unknown_format(found: i32) -> Error {
    Error::new(
        Reason::CheckpointFormatUnknown,
        Site::none().fact(format!("format {found}, this release knows {FORMAT}")),
    )
}
