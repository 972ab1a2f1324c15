//! What does an append log need?

mod append_identity_unknown {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = append,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod append_identity_keys {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = append,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod append_identity_per_tenant {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        org_id: i64,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod append_action_missing {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = append,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod append_upsert_identity {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = append,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod append_provenance {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = append,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod append_log_per_schema {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        org_id: i64,
        amount: Option<i64>,
    }
}
