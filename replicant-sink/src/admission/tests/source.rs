//! A session as the transport would describe it: schema `public` of the database, published by `p`.

use replicant_transport::ident::{Ident, QualifiedName, SlotName};
use replicant_transport::position::{Lsn, WalEnd};
use replicant_transport::relation::ReplicaIdentity;
use replicant_transport::source::{
    Publication, Server, Session, SourceIdentity, SourceTable, SystemIdentifier,
};
use tokio_postgres::Client;

use super::super::catalog;

pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name).unwrap()
}

/// Every table of schema `public`.
pub(super) async fn session(client: &Client) -> Session {
    let rows = client
        .query(
            "select c.relname::text, c.relreplident::text, c.oid, c.relpersistence = 'u',
                array(select a.attname::text from pg_catalog.pg_index i, unnest(i.indkey) k(n),
                    pg_catalog.pg_attribute a
                    where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid and a.attnum = k.n),
                array(select a.attname::text from pg_catalog.pg_index i, unnest(i.indkey) k(n),
                    pg_catalog.pg_attribute a
                    where i.indrelid = c.oid and a.attrelid = c.oid and a.attnum = k.n and i.indimmediate
                    and case c.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident end)
            from pg_catalog.pg_class c
            where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
            order by 1",
            &[],
        )
        .await
        .unwrap();
    let names: Vec<QualifiedName> = rows
        .iter()
        .map(|row| QualifiedName::new("public", row.get(0)).unwrap())
        .collect();
    let facts = catalog::read(client, &names.iter().collect::<Vec<_>>())
        .await
        .unwrap();
    let tables = rows
        .iter()
        .zip(facts.tables)
        .map(|(row, facts)| {
            let idents = |names: Vec<&str>| names.into_iter().map(ident).collect::<Vec<_>>();
            let letter = row.get::<_, &str>(1).as_bytes()[0];
            let replica_identity = ReplicaIdentity::from_letter(letter).unwrap();
            let columns: Vec<_> = facts.columns.into_iter().map(|one| one.column).collect();
            SourceTable {
                oid: row.get(2),
                name: facts.name,
                kind: facts.kind,
                unlogged: row.get(3),
                replica_identity,
                primary_key: idents(row.get(4)),
                identity_columns: match replica_identity {
                    ReplicaIdentity::Full => columns.iter().map(|one| one.name.clone()).collect(),
                    _ => idents(row.get(5)),
                },
                columns,
                column_list: None,
                row_filter: false,
                selectable: true,
            }
        })
        .collect();
    Session {
        identity: SourceIdentity {
            system: SystemIdentifier::new(1),
            database: "shop".to_owned(),
            timeline: 1,
            wal_end: WalEnd::new(Lsn::new(1)),
        },
        server: Server {
            version_num: 150_000,
            in_recovery: false,
        },
        slot: SlotName::new("slot").unwrap(),
        publications: vec![Publication {
            name: ident("p"),
            all_tables: false,
            insert: true,
            update: true,
            delete: true,
            truncate: true,
            via_root: true,
        }],
        tables,
    }
}
