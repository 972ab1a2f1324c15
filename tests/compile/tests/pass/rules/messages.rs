//! Which messages run what, and how long are they remembered?

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
