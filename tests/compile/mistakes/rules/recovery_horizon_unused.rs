use replicant_sink::prelude::*;

#[replicant(
    auxiliary, table = "mail_outbox",
    actions(read, create(record, accept(content), message(retention = "72h"))),
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
    ignored_message_prefixes("heartbeat"),
    recovery_horizon = "24h", //~ recovery_horizon_unused recovery_horizon
)]
struct Sink;
