//! What must hold after a refusal? Its own reason, one sentence with the names concerned, nothing created, nothing moved.

use replicant_sink::Error;
use replicant_sink::pipeline::{Handle, Pipeline};
use replicant_test_servers::wait_for;
use replicant_transport::pipeline::Phase;

use crate::World;
use crate::world::{CHECKPOINT_SCHEMA, DEADLINE};

/// Starts a pipeline that must stop by itself, and tells why it did.
///
/// # Panics
/// When it keeps running.
pub async fn refused(pipeline: &Pipeline) -> Error {
    let handle = match pipeline.start().await {
        Ok(handle) => handle,
        Err(error) => return error,
    };
    halted(handle).await
}

/// Why a running pipeline stopped by itself.
///
/// # Panics
/// When it keeps running.
pub async fn halted(handle: Handle) -> Error {
    tokio::time::timeout(DEADLINE, handle.join())
        .await
        .expect("it keeps running")
        .expect_err("it ended without a reason")
}

/// Waits until the pipeline says that it tries again for this reason.
///
/// # Panics
/// When it never says so.
pub async fn retrying(handle: &Handle, code: &str) {
    let mut status = handle.status_changes();
    let seen = status.wait_for(
        |status| matches!(status.phase, Phase::Retrying { reason, .. } if reason == code),
    );
    tokio::time::timeout(DEADLINE, seen)
        .await
        .unwrap_or_else(|_| panic!("never tried again for {code}"))
        .unwrap();
}

/// Checks the code and that the one line an operator sees names everything it should.
///
/// # Panics
/// When it does not.
pub fn assert_says(error: &Error, code: &str, mentions: &[&str], case: &str) {
    let line = error.to_string();
    assert_eq!(error.code(), code, "{case}: {line}");
    assert!(!line.contains('\n'), "{case}: {line}");
    assert!(line.ends_with(error.help()), "{case}: {line}");
    for mention in mentions {
        assert!(line.contains(mention), "{case}: no {mention:?} in: {line}");
    }
}

/// Watermark and acked end as stored; `None` when there is no checkpoint.
///
/// # Panics
/// When the checkpoint cannot be read.
pub async fn positions(world: &World) -> Option<(Option<i64>, Option<i64>)> {
    if !has_checkpoint_tables(world).await {
        return None;
    }
    let query = format!(
        "select watermark, acked_end from {CHECKPOINT_SCHEMA}.replicant_watermarks where slot = $1"
    );
    let row = world.destination.query_opt(&query, &[&world.slot]).await;
    row.unwrap().map(|row| (row.get(0), row.get(1)))
}

/// Every checkpoint row of this slot as one text, without who holds the lease and since when.
///
/// # Panics
/// When the checkpoint cannot be read.
pub async fn checkpoint_text(world: &World) -> String {
    let query = format!(
        "select (select (to_jsonb(w) - 'epoch')::text from {CHECKPOINT_SCHEMA}.replicant_watermarks w where slot = $1) \
         || (select to_jsonb(c)::text from {CHECKPOINT_SCHEMA}.replicant_contracts c where slot = $1) \
         || coalesce((select string_agg(to_jsonb(t)::text, ',' order by t.*::text) \
             from {CHECKPOINT_SCHEMA}.replicant_tables t where slot = $1), '') \
         || coalesce((select string_agg(to_jsonb(t)::text, ',' order by t.*::text) \
             from {CHECKPOINT_SCHEMA}.replicant_targets t where slot = $1), '')"
    );
    let row = world.destination.query_one(&query, &[&world.slot]).await;
    row.unwrap().get(0)
}

/// Has the destination checkpoint tables?
///
/// # Panics
/// When the catalog cannot be read.
pub async fn has_checkpoint_tables(world: &World) -> bool {
    let name = format!("{CHECKPOINT_SCHEMA}.replicant_watermarks");
    world
        .destination
        .query_one("select pg_catalog.to_regclass($1) is not null", &[&name])
        .await
        .unwrap()
        .get(0)
}

/// Does the slot exist on the source?
///
/// # Panics
/// When the source cannot be asked.
pub async fn slot_exists(world: &World) -> bool {
    world
        .source
        .query_one(
            "select count(*) > 0 from pg_catalog.pg_replication_slots where slot_name = $1",
            &[&world.slot],
        )
        .await
        .unwrap()
        .get(0)
}

/// Drops the slot once its walsender is gone; a server has few of them and many worlds share one.
///
/// # Panics
/// When it stays busy.
pub async fn drop_slot(world: &World) {
    let dropped = wait_for("the slot to be free", DEADLINE, async || {
        let sql = "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1";
        world.source.query(sql, &[&world.slot]).await.ok()
    });
    dropped.await.unwrap();
}

/// The statement inside an error's fact, after the words that introduce it.
///
/// # Panics
/// When it shows none.
pub fn shown_statement(error: &Error) -> String {
    let fact = error.site().fact.unwrap_or_default();
    let starts = ["alter ", "create ", "grant ", "drop "];
    let at = starts.iter().filter_map(|start| fact.find(start)).min();
    let at = at.unwrap_or_else(|| panic!("no statement in: {error}"));
    fact.get(at..).unwrap_or_default().to_owned()
}
