use replicant_sink::prelude::*;

#[replicant(
    auxiliary, table = "mail_outbox",
    actions(read, create(record, accept(content), message(retention = "three days"))), //~ period_invalid "three days"
)]
struct MailOutbox {
    #[replicant(primary_key, generated)]
    id: i64,
    content: String,
}
