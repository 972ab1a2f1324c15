use replicant_sink::prelude::*;

#[replicant(
    auxiliary, table = "mail_outbox", multitenancy(strategy = attribute, attribute = org_id), //~ message_tenanted multitenancy
    actions(read, create(record, accept(org_id, content), message(retention = "72h"))),
)]
struct MailOutbox {
    #[replicant(primary_key, generated)]
    id: i64,
    org_id: String,
    content: String,
}
