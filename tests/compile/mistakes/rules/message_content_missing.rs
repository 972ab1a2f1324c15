use replicant_sink::prelude::*;

#[replicant(
    auxiliary, table = "mail_outbox",
    actions(read, create(record, accept(body), message(retention = "72h"))), //~ message_content_missing message
)]
struct MailOutbox {
    #[replicant(primary_key, generated)]
    id: i64,
    body: String,
}
