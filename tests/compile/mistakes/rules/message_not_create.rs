use replicant_sink::prelude::*;

#[replicant(
    auxiliary, table = "mail_outbox",
    actions(read, create(accept = all), update(record, accept(content), message(retention = "72h"))), //~ message_not_create message
)]
struct MailOutbox {
    #[replicant(primary_key, generated)]
    id: i64,
    content: String,
}
