//! Snapshot provenance: a repeated snapshot retires the rows that it no longer saw, and nothing else can mark a row.

use replicant_sink::prelude::*;
use uuid::Uuid;

#[replicant(
    table = "orders",
    snapshot_provenance,
    actions(
        read,
        destroy,
        create(accept = all),
        update(replicant_mark_seen, private, mark_seen),
        destroy(replicant_retire_unseen, private),
    ),
)]
pub struct Order {
    #[replicant(primary_key)]
    pub id: Uuid,
    pub note: Option<String>,
    #[replicant(private)]
    pub replica_fingerprint: Option<Vec<u8>>,
    #[replicant(private)]
    pub replica_seen_attempt: Option<Vec<u8>>,
}
