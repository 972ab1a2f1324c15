//! What does snapshot provenance need?

mod provenance_public {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod provenance_accepted {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod mark_action_missing {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod mark_action_unmarked {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod mark_seen_elsewhere {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod retire_action_missing {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod snapshot_action_public {
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
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}

mod snapshot_scopes_missing {
    use replicant_sink::prelude::*;

    fn all_tenants() -> Result<Vec<Tenant>, TenantError> {
        Ok(Vec::new())
    }

    #[replicant(
        table = "orders",
        snapshot_provenance,
        snapshot_scopes(path = all_tenants),
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(
            read, destroy, create(accept = all),
            update(replicant_mark_seen, private, mark_seen),
            destroy(replicant_retire_unseen, private),
        ),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
        #[replicant(private)]
        replica_fingerprint: Option<Vec<u8>>,
        #[replicant(private)]
        replica_seen_attempt: Option<Vec<u8>>,
    }
}
