//! Messages: `pg_logical_emit_message(true, 'mail', ...)` on the source runs an action in the destination, once.

use replicant_sink::prelude::*;

/// Filled by messages, emptied by a mailer. No source table feeds it.
#[replicant(
    auxiliary,
    table = "mail_outbox",
    actions(read, create(record, accept(content), message(retention = "72h")))
)]
pub struct MailOutbox {
    #[replicant(primary_key, generated)]
    pub id: i64,
    pub content: String,
    #[replicant(private)]
    pub operation_key: String,
    #[replicant(private)]
    pub content_digest: String,
}

#[replicant_domain(resources(MailOutbox))]
pub struct Outbox;

#[replicant_checkpoint(schema = "replicant")]
pub struct MailCheckpoint;

#[replicant_sink(
    slot_name = "shop_mail",
    domains(Outbox),
    checkpoint = MailCheckpoint,
    message_routes(route("mail", MailOutbox, record)),
    ignored_message_prefixes("heartbeat"),
    recovery_horizon = "24h",
)]
pub struct MailSink;
