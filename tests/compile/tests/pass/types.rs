//! The legal neighbour of each case in `fail/types`.
#![allow(dead_code)]

mod column_type {
    use replicant_sink::prelude::*;

    type Money = i64;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
        amount: Money,
        total: Option<Money>,
    }
}

mod key_nullable {
    use replicant_sink::prelude::*;

    type Maybe = i64;

    #[replicant(table = "orders", identity(by_number, keys(number)), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: Maybe,
        number: i64,
    }
}

fn main() {}
