//! The legal neighbour of each case in `mistakes/relations`.
#![allow(dead_code)]

mod duplicate_resource {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(table = "others", actions(read, destroy, create(accept = all)))]
    struct Other {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_domain(resources(Other))]
    struct Crm;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop, Crm), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod duplicate_source {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(source_schema = "crm", source_table = "orders", table = "orders_copy", actions(read, destroy, create(accept = all)))]
    struct Other {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_domain(resources(Other))]
    struct Crm;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop, Crm), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod duplicate_target {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(source_table = "others", schema = "crm", table = "orders", actions(read, destroy, create(accept = all)))]
    struct Other {
        id: i64,
    }

    #[replicant_domain(resources(Order, Other))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod ignored_source_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit", "crm.orders"))]
    struct ShopSink;
}

mod target_in_checkpoint_schema {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", source_schema = "replicant", actions(read, destroy, create(accept = all)))]
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

mod resource_path_repeated {
    use replicant_sink::prelude::*;

    trait Hidden {
        type Resource;
    }

    struct First;
    struct Second;

    const _: () = {
        #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
        struct Order {
            id: i64,
        }
        impl Hidden for First {
            type Resource = Order;
        }
    };

    const _: () = {
        #[replicant(table = "payments", actions(read, destroy, create(accept = all)))]
        struct Payment {
            id: i64,
        }
        impl Hidden for Second {
            type Resource = Payment;
        }
    };

    type A = <First as Hidden>::Resource;
    type B = <Second as Hidden>::Resource;

    #[replicant_domain(resources(A, B))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = Checkpoint)]
    struct Sink;
}

mod sink_kind_mixed {
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

    #[replicant(table = "customers", actions(read, destroy, create(accept = all)))]
    struct Customer {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }

    #[replicant_domain(resources(Customer))]
    struct Crm;

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

mod destination_action_missing {
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

mod destination_participant_unknown {
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

    #[replicant_domain(resources(Payment, Receipt))]
    struct Payments;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)]
    struct Sink;
}

mod destination_participant_mirrored {
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

    #[replicant_domain(resources(Payment, Receipt))]
    struct Payments;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)]
    struct Sink;
}

mod destination_participant_invalid {
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

    #[replicant_domain(resources(Payment, Receipt))]
    struct Payments;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)]
    struct Sink;
}

mod destination_action_tenant_bypass {
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

    #[replicant_domain(resources(Payment, Receipt))]
    struct Payments;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)]
    struct Sink;
}

mod destination_participant_tenant {
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

    #[replicant_domain(resources(Payment, Receipt))]
    struct Payments;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)]
    struct Sink;
}

mod destination_participant_cycle {
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

    #[replicant_domain(resources(Payment, Receipt))]
    struct Payments;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)]
    struct Sink;
}
