//! Do messages run actions that are for them?

mod message_route_unknown {
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

    #[replicant(
        auxiliary,
        table = "sms_outbox",
        actions(read, create(record, accept(content), message(retention = "72h")))
    )]
    struct SmsOutbox {
        #[replicant(primary_key, generated)]
        id: i64,
        content: String,
    }

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

mod destination_message_route_invalid {
    use replicant_sink::prelude::*;

    #[replicant(
        auxiliary, table = "mail_outbox",
        actions(read, create(accept = all), create(record, accept(content), message(retention = "72h"))),
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

mod destination_append_message_route_invalid {
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
        message_prefix: Option<String>,
        message_content: Option<Vec<u8>>,
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
        message_routes(route("order", OrderEvent, append)),
    )]
    struct Sink;
}

mod retention_below_recovery_horizon {
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
