//! The legal neighbour of each case in `mistakes/rules`.
#![allow(dead_code)]

mod identifier_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", source_table = "Order Lines", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod schema_reserved {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", schema = catalog, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod columns_empty {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod source_column_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(source = "number")]
        id: i64,
        #[replicant(source = "id")]
        number: i64,
    }
}

mod target_column_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
        #[replicant(column = "Id")]
        number: i64,
    }
}

mod sql_type_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(sql_type = "bigint")]
        id: i64,
    }
}

mod skip_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(a, b), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod skip_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(id), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(source = "number")]
        id: i64,
    }
}

mod identity_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), identity(by_id_2, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod identity_empty {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod identity_key_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod identity_key_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(source = "number")]
        id: i64,
    }
}

mod upsert_identity_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), upsert_identity = by_id, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod key_generated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), upsert_identity = by_id, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key, generated)]
        number: i64,
        id: i64,
    }
}

mod primary_action_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), create(record, accept(id))))]
    struct Order {
        id: i64,
    }
}

mod action_name_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), create(record, accept(id)), update(amend, accept(id))))]
    struct Order {
        id: i64,
    }
}

mod action_missing {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, create(accept = all), destroy))]
    struct Order {
        id: i64,
    }
}

mod accept_without_write {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), read(recent)))]
    struct Order {
        id: i64,
    }
}

mod accept_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id))))]
    struct Order {
        id: i64,
    }
}

mod accept_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept("id"))))]
    struct Order {
        id: i64,
    }
}

mod accept_generated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id))))]
    struct Order {
        id: i64,
        #[replicant(generated)]
        number: i64,
    }
}

mod accept_private {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id, secret))))]
    struct Order {
        id: i64,
        secret: i64,
    }
}

mod private_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(secret), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod column_not_accepted {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id, amount))))]
    struct Order {
        id: i64,
        amount: i64,
    }
}

mod resource_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;
}

mod domain_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod slot_name_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop_orders", domains(Shop), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod ignored_source_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit"))]
    struct ShopSink;
}

mod ignored_source_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit", "public.log"))]
    struct ShopSink;
}

mod identity_partial {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(live, keys(id)), upsert_identity = live, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod identity_predicate_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(live, keys(id), where = "note is null"), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod action_name_reserved {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), update(touch_up, accept(note))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod action_name_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), update(touch_up, accept(note))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod hook_repeated {
    use replicant_sink::prelude::*;

    struct Trimmed;

    impl Change for Trimmed {
        fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(table = "orders", actions(read, destroy, create(accept = all, changes(Trimmed))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod hook_never_run {
    use replicant_sink::prelude::*;

    struct Trimmed;

    impl Change for Trimmed {
        fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(
        table = "orders",
        actions(read, destroy(validations(Kept)), create(accept = all, changes(Trimmed)), update(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }

    struct Kept;

    impl Validation for Kept {
        fn validate(_: &Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }
}

mod hook_on_read {
    use replicant_sink::prelude::*;

    struct Trimmed;

    impl Change for Trimmed {
        fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(table = "orders", actions(read, destroy, create(accept = all, changes(Trimmed))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod touches_repeated {
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

mod message_not_create {
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

mod message_not_auxiliary {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        content: String,
    }
}

mod message_tenanted {
    use replicant_sink::prelude::*;

    #[replicant(
        auxiliary,
        table = "mail_outbox",
        actions(
            read,
            create(record, accept(org_id, content), message(retention = "72h"))
        )
    )]
    struct MailOutbox {
        #[replicant(primary_key, generated)]
        id: i64,
        org_id: String,
        content: String,
    }
}

mod message_content_missing {
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

mod period_invalid {
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

mod initial_state_missing {
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

    #[replicant_domain(resources(OrderEvent))]
    struct Log;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "log",
        sink_kind = append_log,
        initial_state = go_forward,
        domains(Log),
        checkpoint = Checkpoint,
    )]
    struct Sink;
}

mod initial_state_unused {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = Checkpoint)]
    struct Sink;
}

mod message_prefix_invalid {
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

    #[replicant_domain(resources(MailOutbox))]
    struct Mail;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "shop",
        domains(Mail),
        checkpoint = Checkpoint,
        message_routes(route("mail", MailOutbox, record)),
        ignored_message_prefixes("heartbeat"),
        recovery_horizon = "24h",
    )]
    struct Sink;
}

mod message_prefix_repeated {
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

    #[replicant_domain(resources(MailOutbox))]
    struct Mail;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "shop",
        domains(Mail),
        checkpoint = Checkpoint,
        message_routes(route("mail", MailOutbox, record)),
        ignored_message_prefixes("heartbeat"),
        recovery_horizon = "24h",
    )]
    struct Sink;
}

mod message_prefix_conflict {
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

    #[replicant_domain(resources(MailOutbox))]
    struct Mail;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "shop",
        domains(Mail),
        checkpoint = Checkpoint,
        message_routes(route("mail", MailOutbox, record)),
        ignored_message_prefixes("heartbeat"),
        recovery_horizon = "24h",
    )]
    struct Sink;
}

mod recovery_horizon_missing {
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

    #[replicant_domain(resources(MailOutbox))]
    struct Mail;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "shop",
        domains(Mail),
        checkpoint = Checkpoint,
        message_routes(route("mail", MailOutbox, record)),
        ignored_message_prefixes("heartbeat"),
        recovery_horizon = "24h",
    )]
    struct Sink;
}

mod recovery_horizon_unused {
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

    #[replicant_domain(resources(MailOutbox))]
    struct Mail;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "shop",
        domains(Mail),
        checkpoint = Checkpoint,
        message_routes(route("mail", MailOutbox, record)),
        ignored_message_prefixes("heartbeat"),
        recovery_horizon = "24h",
    )]
    struct Sink;
}

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

mod tenant_source_without_tenancy {
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

mod tenant_source_missing {
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

mod tenant_source_repeated {
    use replicant_sink::prelude::*;

    fn tenant(row: &RowView<'_>, _: &[&str]) -> Result<Tenant, TenantError> {
        Tenant::new(row.text("org_id")?)
    }

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenant_field_unknown {
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

mod tenant_not_mapped {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenant_sensitive {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders", sensitive(note), skip(note),
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

mod tenancy_attribute_missing {
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

mod tenancy_schema_missing {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenancy_schema_invalid {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenancy_option_unused {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod identity_key_tenant {
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

mod action_tenant_bypass {
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

mod sensitive_repeated {
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

mod sensitive_unmapped {
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

mod sealed_key {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        identity(by_pan, keys(id)),
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

mod encrypted_without_value {
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
        #[replicant(generated)]
        secret: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}
