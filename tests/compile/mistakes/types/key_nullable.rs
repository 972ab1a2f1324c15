use replicant_sink::prelude::*;

type Maybe = Option<i64>;

#[replicant(table = "orders", identity(by_number, keys(number)), actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key)]
    id: Maybe, //~ key_nullable Maybe
    number: Option<i64>, //~ key_nullable Option<i64>
}
