//! How does everything come again? The checkpoint is forgotten, and the slot is what it was when it was copied.

use replicant_sink::decision::{self, Decided, SlotOnSource};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::wait_for;

use crate::World;
use crate::world::DEADLINE;

/// Runs on the source once nobody uses the slot; `{slot}` is its name.
///
/// # Panics
/// When the slot stays busy.
pub async fn on_slot(world: &World, sql: &str) {
    let sql = sql.replace("{slot}", world.slot);
    wait_for("the slot to be free", DEADLINE, async || {
        world.source.batch_execute(&sql).await.ok()
    })
    .await
    .unwrap();
}

/// Keeps the slot as it is now under another name.
///
/// # Panics
/// When the slot stays busy.
pub async fn keep_slot(world: &World) {
    let copy = "select pg_copy_logical_replication_slot('{slot}', '{slot}_old')";
    on_slot(world, copy).await;
}

/// Forgets the checkpoint, and brings back the slot as it was when it was kept.
///
/// # Panics
/// When a server refuses.
pub async fn rewind(world: &World, pipeline: &Pipeline) {
    on_slot(world, "select pg_drop_replication_slot('{slot}')").await;
    let copy = "select pg_copy_logical_replication_slot('{slot}_old', '{slot}')";
    on_slot(world, copy).await;
    let reset = decision::reset(pipeline, SlotOnSource::MayStay).await;
    assert_eq!(reset.unwrap(), Decided::Changed);
}

/// Drops what [`keep_slot`] kept.
///
/// # Panics
/// When a server refuses.
pub async fn forget_slot(world: &World) {
    on_slot(world, "select pg_drop_replication_slot('{slot}_old')").await;
}
