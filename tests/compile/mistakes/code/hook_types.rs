use replicant_sink::prelude::*;

struct Nothing;

#[replicant(
    table = "orders",
    actions(
        read,
        destroy,
        create(
            accept = all,
            changes(Nothing), //~ E0277 Nothing
            validations(Nothing), //~ E0277 Nothing
            touches(Nothing), //~ E0277 Nothing
        ),
    ),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
}

#[replicant(
    auxiliary, table = "outbox",
    actions(create(record, accept(content), message(retention = "72h", effect = Nothing))), //~ E0277 Nothing
)]
struct Outbox {
    content: String,
}
