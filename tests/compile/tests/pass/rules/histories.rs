//! What does a history need?

mod business_key_missing {
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

mod business_key_unknown {
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

mod business_key_repeated {
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

mod business_key_primary {
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

mod business_key_not_mapped {
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
        #[replicant(generated)]
        number: i64,
        amount: i64,
        valid_from_lsn: i64,
        valid_to_lsn: Option<i64>,
    }
}

mod history_identity_missing {
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

mod history_identity_keys {
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

mod close_action_missing {
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

mod close_action_drops {
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
