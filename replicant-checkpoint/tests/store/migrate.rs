//! The tables come to exist once, completely, and for nobody else.

use replicant_checkpoint::Error;
use replicant_checkpoint::Reason;
use replicant_checkpoint::contract::sink::CheckpointSpec;
use replicant_checkpoint::store::{Completeness, Fault, Migrated, Store};
use replicant_transport::source::SlotProvenance;

use crate::fixture::{Fixture, end, name, one};

#[tokio::test]
async fn migrating_again_changes_nothing() {
    let fixture = Fixture::unmigrated(None).await;
    let mut session = fixture.session().await;
    assert_eq!(
        fixture.store.migrate(&mut session.client).await,
        Ok(Migrated::Created)
    );
    let before = catalog(&fixture, &session.client).await;
    assert_eq!(
        fixture.store.migrate(&mut session.client).await,
        Ok(Migrated::Unchanged)
    );
    assert_eq!(before, catalog(&fixture, &session.client).await);
}

#[tokio::test]
async fn two_migrations_at_once_create_once() {
    let fixture = Fixture::unmigrated(None).await;
    let (mut one, mut two) = (fixture.session().await, fixture.session().await);
    let (first, second) = tokio::join!(
        fixture.store.migrate(&mut one.client),
        fixture.store.migrate(&mut two.client)
    );
    let mut both = [first.unwrap(), second.unwrap()];
    both.sort_by_key(|migrated| *migrated == Migrated::Unchanged);
    assert_eq!(both, [Migrated::Created, Migrated::Unchanged]);
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing() {
    let fixture = Fixture::unmigrated(None).await;
    let mut session = fixture.session().await;
    // The last table of the migration is in the way.
    let schema = fixture.schema;
    session
        .client
        .batch_execute(&format!(
            "create schema \"{schema}\"; create sequence \"{schema}\".replicant_epochs"
        ))
        .await
        .unwrap();
    let error = fixture
        .store
        .migrate(&mut session.client)
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Fault(Fault::Refused(Some(state))) if state.as_str() == "42P07")
    );
    let tables: i64 = one(
        &session.client,
        &format!(
            "select pg_catalog.count(*) from pg_catalog.pg_tables where schemaname = '{schema}'"
        ),
    )
    .await;
    assert_eq!(tables, 0);
}

#[tokio::test]
async fn a_newer_format_is_refused_by_migration_and_by_bind() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let table = fixture.table("replicant_format");
    session
        .client
        .batch_execute(&format!("update {table} set version = 4"))
        .await
        .unwrap();
    let migrated = fixture.store.migrate(&mut session.client).await;
    assert_eq!(
        migrated.unwrap_err().reason(),
        Reason::CheckpointFormatUnknown
    );
    let bound = fixture
        .store
        .bind(&mut session.client, &fixture.binding("a"))
        .await;
    assert_eq!(bound.unwrap_err().reason(), Reason::CheckpointFormatUnknown);
}

#[tokio::test]
async fn the_first_format_is_brought_to_this_one_once() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let complete = [(name("public.orders"), Completeness::Complete)];
    let (store, client) = (&fixture.store, &mut session.client);
    store
        .set_completeness(client, &bound, &complete)
        .await
        .unwrap();
    let (tables, leases, format) = (
        fixture.table("replicant_tables"),
        fixture.table("replicant_leases"),
        fixture.table("replicant_format"),
    );
    client
        .batch_execute(&format!(
            "alter table {tables} drop column source_oid, drop column source_columns, \
             drop column recorded_until; alter table {leases} drop column owned_since; \
             update {format} set version = 1"
        ))
        .await
        .unwrap();
    let refused = store.bind(client, &fixture.binding("a")).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::CheckpointNotMigrated);
    assert_eq!(store.migrate(client).await, Ok(Migrated::Upgraded));
    assert_eq!(store.migrate(client).await, Ok(Migrated::Unchanged));
    let bound = fixture.bound(client, "a").await;
    assert_eq!(bound.acked_end(), Some(end(1000)));
    let mapped = [fixture.mapped(client, "orders", 16_400, &[("id", 1)]).await];
    let slot = fixture.slot(1000, SlotProvenance::Reused);
    store.origin(client, &bound, &slot, &mapped).await.unwrap();
    let tables = store.completeness(client, &bound).await.unwrap();
    assert_eq!(tables[&name("public.orders")], Completeness::Complete);
}

#[tokio::test]
async fn binding_before_the_migration_names_the_remedy() {
    let fixture = Fixture::unmigrated(None).await;
    let mut session = fixture.session().await;
    let bound = fixture
        .store
        .bind(&mut session.client, &fixture.binding("a"))
        .await;
    assert_eq!(bound.unwrap_err().reason(), Reason::CheckpointNotMigrated);
}

#[tokio::test]
async fn other_roles_are_denied_even_with_default_privileges() {
    let fixture = Fixture::unmigrated(None).await;
    let mut session = fixture.session().await;
    let schema = fixture.schema;
    session
        .client
        .batch_execute(&format!(
            "create role stranger login; create schema \"{schema}\"; \
             grant usage on schema \"{schema}\" to stranger; \
             alter default privileges in schema \"{schema}\" grant all on tables to stranger, public; \
             alter default privileges in schema \"{schema}\" grant all on sequences to stranger, public"
        ))
        .await
        .unwrap();
    fixture.store.migrate(&mut session.client).await.unwrap();
    let stranger = fixture.session_as("stranger").await;
    for table in TABLES {
        let table = fixture.table(table);
        for sql in [
            format!("select from {table}"),
            format!("delete from {table}"),
            format!("insert into {table} default values"),
        ] {
            let error = stranger.client.batch_execute(&sql).await.unwrap_err();
            assert_eq!(error.code().unwrap().code(), "42501", "{sql}");
        }
    }
    let next = format!("select nextval('{}')", fixture.table("replicant_epochs"));
    let error = stranger.client.batch_execute(&next).await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "42501");
}

#[tokio::test]
async fn a_declared_reader_may_select_and_nothing_else() {
    let fixture = Fixture::unmigrated(Some("Reader one")).await;
    let mut session = fixture.session().await;
    session
        .client
        .batch_execute("create role \"Reader one\" login")
        .await
        .unwrap();
    // The tables were there before the reader was declared.
    let bare = Store::new(&CheckpointSpec {
        schema: fixture.schema,
        select_grant: None,
    })
    .unwrap();
    let client = &mut session.client;
    assert_eq!(bare.migrate(client).await, Ok(Migrated::Created));
    assert_eq!(fixture.store.migrate(client).await, Ok(Migrated::Granted));
    assert_eq!(fixture.store.migrate(client).await, Ok(Migrated::Unchanged));
    let reader = fixture.session_as("Reader one").await;
    for table in TABLES {
        let table = fixture.table(table);
        let select = format!("select from {table}");
        reader.client.batch_execute(&select).await.unwrap();
        let delete = format!("delete from {table}");
        let error = reader.client.batch_execute(&delete).await.unwrap_err();
        assert_eq!(error.code().unwrap().code(), "42501", "{table}");
    }
    assert_eq!(
        fixture.store.show(&reader.client, &fixture.key.slot).await,
        Ok(None)
    );
}

#[tokio::test]
async fn the_documented_ddl_is_what_a_migration_runs() {
    let fixture = Fixture::unmigrated(None).await;
    let mut session = fixture.session().await;
    session
        .client
        .batch_execute(&fixture.store.ddl())
        .await
        .unwrap();
    assert_eq!(
        fixture.store.migrate(&mut session.client).await,
        Ok(Migrated::Unchanged)
    );
    let options: Vec<String> = one(
        &session.client,
        &format!(
            "select reloptions from pg_catalog.pg_class where oid = '{}'::pg_catalog.regclass",
            fixture.table("replicant_watermarks")
        ),
    )
    .await;
    assert_eq!(options, ["fillfactor=10"]);
}

const TABLES: [&str; 7] = [
    "replicant_watermarks",
    "replicant_contracts",
    "replicant_leases",
    "replicant_tables",
    "replicant_targets",
    "replicant_decisions",
    "replicant_format",
];

/// Every catalog row of the schema with the transaction that wrote it.
async fn catalog(fixture: &Fixture, client: &tokio_postgres::Client) -> String {
    let schema = fixture.schema;
    one(client, &format!(
        "select pg_catalog.string_agg(relname || ':' || rel.xmin::pg_catalog.text, ',' order by relname) \
         from pg_catalog.pg_class rel join pg_catalog.pg_namespace nsp on nsp.oid = relnamespace \
         where nspname = '{schema}'"
    ))
    .await
}
