//! The legal neighbour of each case in `mistakes/syntax`.
#![allow(dead_code)]

mod option_syntax {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(a), on_truncate = mirror, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod option_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", on_truncate = mirror, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod option_misplaced {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(blob), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod option_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(a, b), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod option_value {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", on_truncate = halt, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod option_missing {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod item_shape {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod item_generic {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod item_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(table = "orders_2", actions(read, destroy, create(accept = all)))]
    struct Order2 {
        id: i64,
    }
}

mod field_conditional {
    use replicant_sink::prelude::*;

    #[cfg(unix)]
    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod generated_source {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
        #[replicant(generated, column = "n")]
        number: i64,
    }
}

mod sealed_lossy {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<f32>,
        #[replicant(lossy)]
        share: f32,
    }
}

mod before_source {
    use replicant_sink::prelude::*;

    #[replicant(
        source_table = "orders", table = "order_events",
        append_log,
        on_truncate = append,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    struct OrderEvent {
        source_system_id: String,
        source_database: String,
        slot_name: String,
        commit_lsn: i64,
        ordinal: i64,
        operation: String,
        origin: String,
        snapshot_attempt: Option<Vec<u8>>,
        amount: Option<i64>,
        #[replicant(before = amount)]
        amount_before: Option<i64>,
    }
}
