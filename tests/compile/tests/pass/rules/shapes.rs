//! How are rows held, and which fields does the sink fill?

mod shape_conflict {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_versions",
        history_strategy = scd2,
        history_business_key(order_id),
        identity(version, keys(order_id, valid_from_lsn)),
        upsert_identity = version,
        on_truncate = close,
        actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn))),
    )]
    struct OrderVersion {
        #[replicant(primary_key, generated)]
        version_id: i64,
        #[replicant(source = "id")]
        order_id: i64,
        amount: i64,
        valid_from_lsn: i64,
        valid_to_lsn: Option<i64>,
    }
}

mod history_option_unused {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod append_option_unused {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod snapshot_option_unused {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod auxiliary_source {
    use replicant_sink::prelude::*;

    #[replicant(
        auxiliary,
        table = "mail_outbox",
        actions(read, create(record, accept(content), message(retention = "72h")))
    )]
    struct MailOutbox {
        #[replicant(primary_key, generated)]
        id: i64,
        content: String,
    }
}

mod before_outside_log {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(source = note)]
        note_now: Option<String>,
    }
}

mod truncate_close_without_history {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", on_truncate = mirror, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod truncate_append_without_log {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", on_truncate = mirror, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod truncate_of_log {
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

mod truncate_append_of_tenant {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = halt,
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

mod role_field_unknown {
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

mod role_field_shared {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_versions",
        history_strategy = scd2,
        history_business_key(order_id),
        identity(version, keys(order_id, valid_from_lsn)),
        upsert_identity = version,
        history_valid_from_timestamp_attribute = valid_from,
        history_valid_to_timestamp_attribute = valid_to,
        on_truncate = close,
        actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn, valid_to))),
    )]
    struct OrderVersion {
        #[replicant(primary_key, generated)]
        version_id: i64,
        #[replicant(source = "id")]
        order_id: i64,
        amount: i64,
        valid_from_lsn: i64,
        valid_to_lsn: Option<i64>,
        valid_from: Option<chrono::DateTime<chrono::Utc>>,
        valid_to: Option<chrono::DateTime<chrono::Utc>>,
    }
}

mod role_field_mapped {
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
