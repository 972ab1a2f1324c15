use replicant_sink::prelude::*;

#[replicant(
    auxiliary, table = "mail_outbox",
    actions(read, create(record, accept(content), message(retention = "72h"))),
)]
struct MailOutbox {
    #[replicant(primary_key, generated)]
    id: i64,
    content: i64, //~ message_content_type i64
}
