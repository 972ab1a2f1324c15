use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    snapshot_provenance,
    actions(
        read, destroy, create(accept = all),
        update(replicant_mark_seen, private, mark_seen),
        destroy(replicant_retire_unseen, private),
    ),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(private)]
    replica_fingerprint: Option<Vec<u8>>,
    replica_seen_attempt: Option<Vec<u8>>, //~ provenance_public replica_seen_attempt
}
