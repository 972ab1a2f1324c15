use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all), create(record, accept(id, content), message(retention = "72h"))))] //~ message_not_auxiliary message
struct Order {
    #[replicant(primary_key)]
    id: i64,
    content: String,
}
