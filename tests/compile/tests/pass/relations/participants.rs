//! Do hooks run actions that are for them?

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
