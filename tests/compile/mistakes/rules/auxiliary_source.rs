use replicant_sink::prelude::*;

#[replicant(
    auxiliary, source_table = "mails", table = "mail_outbox", //~ auxiliary_source source_table
    actions(read, create(record, accept(content), message(retention = "72h"))),
)]
struct MailOutbox {
    #[replicant(primary_key, generated)]
    id: i64,
    content: String,
}
