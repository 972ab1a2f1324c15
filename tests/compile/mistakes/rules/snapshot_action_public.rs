use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    snapshot_provenance,
    actions(
        read, destroy, create(accept = all),
        update(replicant_mark_seen, private, mark_seen),
        destroy(replicant_retire_unseen), //~ snapshot_action_public replicant_retire_unseen
    ),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(private)]
    replica_fingerprint: Option<Vec<u8>>,
    #[replicant(private)]
    replica_seen_attempt: Option<Vec<u8>>,
}
