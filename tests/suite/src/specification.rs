//! How does a test declare a mirror of tables it just made? From the destination's catalog, column by column.

use replicant_checkpoint::contract::resource::{
    Accept, ActionKind, ActionSpec, ColumnSpec, Nullability, OnTruncate, ResourceSpec, Shape,
    Storage, TableName,
};
use replicant_checkpoint::contract::sink::{CheckpointSpec, InitialState, SinkKind, SinkSpec};
use tokio_postgres::Client;

use crate::journal::JOURNAL;
use crate::kept;
use crate::tenancy;
use crate::world::{CHECKPOINT_SCHEMA, NUDGE};

/// A specification under construction; every resource can be changed before [`build`](Self::build).
pub struct Specification {
    slot: &'static str,
    /// The resources, in the order they were named.
    pub resources: Vec<ResourceSpec>,
    /// Published tables to ignore, `schema` and `table`.
    pub ignored: Vec<TableName>,
}

const ACTIONS: &[ActionSpec] = &[
    ActionSpec::new(ActionKind::Read, Accept::Fields(&[])),
    ActionSpec::new(ActionKind::Create, Accept::All),
    ActionSpec::new(ActionKind::Destroy, Accept::Fields(&[])),
];

impl Specification {
    /// Mirrors of tables in schema `public` of the destination, every column as `PgText`, keyed by the primary key.
    /// `t: history(a, b)` keeps the history of rows found by those columns, `t: log` keeps a log; `t by org` has tenants
    /// that the column `org` tells, `t by org in tenant_{}` a schema for each.
    ///
    /// # Panics
    /// When a table does not exist.
    pub async fn of_tables(destination: &Client, slot: &'static str, tables: &[&str]) -> Self {
        let split = |table: &'_ &str| -> (String, Option<String>) {
            match table.split_once(": ") {
                Some((name, how)) => (name.to_owned(), Some(how.to_owned())),
                None => ((*table).to_owned(), None),
            }
        };
        let tables: Vec<_> = tables.iter().map(split).collect();
        let words = |name: &str| -> (String, String) {
            let (table, tenants) = match name.find(" by ") {
                Some(at) => name.split_at(at),
                None => (name, ""),
            };
            (table.to_owned(), tenants.to_owned())
        };
        let names: Vec<_> = tables.iter().map(|(name, _)| words(name)).collect();
        let public: Vec<_> = names
            .iter()
            .map(|(table, _)| ("public", table.as_str()))
            .collect();
        let mut specification = Self::of_named(destination, slot, &public).await;
        for (resource, (_, tenants)) in specification.resources.iter_mut().zip(&names) {
            tenancy::declare(resource, tenants);
        }
        for (resource, (_, how)) in specification.resources.iter_mut().zip(&tables) {
            if let Some(how) = how {
                kept::keep(resource, how);
            }
        }
        specification
    }

    /// The same for tables of any schema, each given as schema and table.
    ///
    /// # Panics
    /// When a table does not exist.
    pub async fn of_named(
        destination: &Client,
        slot: &'static str,
        tables: &[(&str, &str)],
    ) -> Self {
        let mut resources = Vec::new();
        for (schema, table) in tables {
            resources.push(resource(destination, schema, table).await);
        }
        Self {
            slot,
            resources,
            ignored: vec![ignored(NUDGE), ignored(JOURNAL)],
        }
    }

    /// Changes the resource of one table.
    ///
    /// # Panics
    /// When the table was not named.
    #[must_use]
    pub fn with(mut self, table: &str, change: impl FnOnce(&mut ResourceSpec)) -> Self {
        change(
            self.resources
                .iter_mut()
                .find(|resource| resource.target.table == table)
                .unwrap(),
        );
        self
    }

    /// The specification, alive as long as the process.
    pub fn build(self) -> &'static SinkSpec {
        let resources: Vec<&'static ResourceSpec> = self
            .resources
            .into_iter()
            .map(|resource| &*Box::leak(Box::new(resource)))
            .collect();
        let domain: &'static [&'static ResourceSpec] = Vec::leak(resources);
        let logs = |resource: &&ResourceSpec| matches!(resource.shape, Shape::AppendLog(_));
        let (kind, initial_state) = if domain.iter().any(logs) {
            (SinkKind::AppendLog, Some(InitialState::GoForward))
        } else {
            (SinkKind::StateMirror, None)
        };
        Box::leak(Box::new(SinkSpec {
            rust_name: "TestSink",
            kind,
            initial_state,
            slot_name: self.slot,
            domains: Vec::leak(vec![domain]),
            ignored_sources: Vec::leak(self.ignored),
            checkpoint: CheckpointSpec {
                schema: CHECKPOINT_SCHEMA,
                select_grant: None,
            },
            ..SinkSpec::EMPTY
        }))
    }
}

fn ignored(table: &'static str) -> TableName {
    TableName {
        schema: "public",
        table,
    }
}

/// A column that exists on both sides under one name, as `PgText`.
pub fn column(name: &'static str, nullability: Nullability) -> ColumnSpec {
    ColumnSpec {
        nullability,
        ..ColumnSpec::new(name, Storage::Any)
    }
}

async fn resource(destination: &Client, schema: &str, table: &str) -> ResourceSpec {
    let columns = destination
        .query(
            "select attname::text, attnotnull from pg_attribute a join pg_class c on c.oid = attrelid \
             where c.relname = $2 and c.relnamespace = to_regnamespace(quote_ident($1)) and attnum > 0 \
             and not attisdropped order by attnum",
            &[&schema, &table],
        )
        .await
        .unwrap();
    let keys = destination
        .query(
            "select attname::text from pg_index i join pg_class c on c.oid = i.indrelid, \
             unnest(i.indkey) with ordinality as k(attnum, place) \
             join pg_attribute a on true \
             where a.attrelid = c.oid and a.attnum = k.attnum and i.indisprimary and c.relname = $2 \
             and c.relnamespace = to_regnamespace(quote_ident($1)) order by k.place",
            &[&schema, &table],
        )
        .await
        .unwrap();
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let name = TableName {
        schema: leak(schema.to_owned()),
        table: leak(table.to_owned()),
    };
    ResourceSpec {
        rust_name: "Test",
        source: name,
        target: name,
        columns: Vec::leak(
            columns
                .iter()
                .map(|row| {
                    let not_null: bool = row.get(1);
                    let nullability = if not_null {
                        Nullability::NotNull
                    } else {
                        Nullability::Nullable
                    };
                    column(leak(row.get(0)), nullability)
                })
                .collect(),
        ),
        primary_key: Vec::leak(keys.iter().map(|row| leak(row.get(0))).collect()),
        on_truncate: OnTruncate::Mirror,
        actions: ACTIONS,
        ..ResourceSpec::EMPTY
    }
}
