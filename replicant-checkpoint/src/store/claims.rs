//! What remembers that the effect of a message happened? One table beside the checkpoint's, for sinks that declare claims.
//!
//! A row is one message's effect on one resource: which operation, the digest of what it was asked to write, and how
//! long the row is kept. It holds no value. It is not part of the checkpoint's format, because a sink without message
//! actions has none; a migration makes it.

use replicant_transport::ident::Ident;

use super::Store;

const CLAIMS: &str = "replicant_claims";

impl Store {
    /// The statements that make the table of claims, readable by nobody but its owner. One that was left where it was is
    /// taken as it is, with what it remembers.
    pub fn claims_ddl(&self) -> String {
        let (table, text) = (self.claims(), "pg_catalog.text collate pg_catalog.\"C\"");
        format!(
            r#"create table if not exists {table} (
    target_schema {text} not null,
    target_table {text} not null,
    operation_key pg_catalog.bytea not null check (pg_catalog.octet_length(operation_key) = 32),
    digest_key_version pg_catalog.int4 not null check (digest_key_version >= 1),
    content_digest pg_catalog.bytea not null check (pg_catalog.octet_length(content_digest) = 32),
    state {text} not null check (state in ('processing', 'complete')),
    admitted_at pg_catalog.timestamptz not null default pg_catalog.clock_timestamp(),
    retain_until pg_catalog.timestamptz not null check (retain_until > admitted_at),
    primary key (target_schema, target_table, operation_key)
);
create index if not exists {CLAIMS}_retain_until on {table} (retain_until);
revoke all on {table} from public;
"#
        )
    }

    /// The statement that lets one role read it, beside [`grant_ddl`](Self::grant_ddl).
    pub fn grant_claims_ddl(&self, role: &Ident) -> String {
        format!("grant select on {} to {};\n", self.claims(), role.quoted())
    }

    /// The statement that takes that back.
    pub fn revoke_claims_ddl(&self, role: &Ident) -> String {
        let role = role.quoted();
        format!("revoke select on {} from {role};\n", self.claims())
    }

    /// The statement that drops it, and forgets which messages took effect.
    pub fn drop_claims_ddl(&self) -> String {
        format!("drop table {};\n", self.claims())
    }

    fn claims(&self) -> String {
        self.table(CLAIMS)
    }
}
