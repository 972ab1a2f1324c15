//! Which slot writes a destination table: two writers of one table would undo each other's rows.

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::{KeyText, Param, Store};
use crate::error::Error;
use crate::reason::Reason;

impl Store {
    /// Claims destination tables, in order of their names so that two binders cannot deadlock.
    pub(super) async fn claim(
        &self,
        client: &Client,
        key: &KeyText,
        targets: &[QualifiedName],
    ) -> Result<(), Error> {
        let table = self.table("replicant_targets");
        let schemas: Vec<&str> = targets.iter().map(|name| name.schema.as_str()).collect();
        let tables: Vec<&str> = targets.iter().map(|name| name.name.as_str()).collect();
        let params: [Param<'_>; 3] = [
            (&key.slot, Type::TEXT),
            (&schemas, Type::TEXT_ARRAY),
            (&tables, Type::TEXT_ARRAY),
        ];
        let insert = format!(
            "insert into {table} (slot, target_schema, target_table) \
             select $1, wanted.s, wanted.t from rows from (pg_catalog.unnest($2), pg_catalog.unnest($3)) \
             as wanted (s, t) order by wanted.s collate pg_catalog.\"C\", wanted.t collate pg_catalog.\"C\" \
             on conflict (target_schema, target_table) do nothing"
        );
        let foreign = format!(
            "select claimed.target_schema, claimed.target_table from {table} as claimed \
             join rows from (pg_catalog.unnest($2), pg_catalog.unnest($3)) as wanted (s, t) \
             on claimed.target_schema = wanted.s and claimed.target_table = wanted.t \
             where claimed.slot <> $1 order by 1, 2 limit 1"
        );
        let (inserted, foreign) = tokio::join!(
            biased;
            client.execute_typed(&insert, &params),
            client.query_typed_opt(&foreign, &params),
        );
        inserted?;
        match foreign? {
            None => Ok(()),
            Some(row) => {
                let name = QualifiedName::new(row.try_get(0)?, row.try_get(1)?)
                    .map_err(|_| Reason::CheckpointDamaged)?;
                Err(Error::new(
                    Reason::DestinationTargetClaimed,
                    Site::table(&name),
                ))
            }
        }
    }
}
