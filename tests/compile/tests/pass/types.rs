//! The legal neighbour of each case in `mistakes/types`.
#![allow(dead_code)]

mod column_type {
    use replicant_sink::prelude::*;

    type Money = i64;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
        amount: Money,
        total: Option<Money>,
    }
}

mod key_nullable {
    use replicant_sink::prelude::*;

    type Maybe = i64;

    #[replicant(table = "orders", identity(by_number, keys(number)), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: Maybe,
        number: i64,
    }
}

mod encrypted_type {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}

mod encrypted_missing {
    use replicant_sink::prelude::*;

    type Secret = Option<Sealed<String>>;

    #[replicant(
        table = "orders",
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(encrypted)]
        pan: Secret,
    }
}

mod sensitive_plain {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}

mod role_storage {
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

mod event_nullable {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "payments", append_log,
        identity(
            append_identity,
            keys(source_system_id, source_database, slot_name, commit_lsn, ordinal),
            all_tenants,
        ),
        actions(read, create(append, accept = all)),
    )]
    struct Payment {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: i64,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}

mod role_nullability {
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

mod tenant_storage {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod tenant_nullable {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod message_content_type {
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

mod destination_participant_mismatch {
    use replicant_sink::prelude::*;

    struct WithReceipt;

    impl Hook for WithReceipt {
        const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

        async fn run(_: &mut Changeset<'_>, _: &mut Actions<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(table = "payments", actions(read, destroy, create(accept = all, changes(WithReceipt), touches(Receipt))))]
    struct Payment {
        #[replicant(primary_key)]
        id: i64,
    }

    #[replicant(
        auxiliary,
        table = "receipts",
        actions(create(record, accept(payment_id)))
    )]
    struct Receipt {
        #[replicant(primary_key, generated)]
        id: i64,
        payment_id: i64,
    }
}
