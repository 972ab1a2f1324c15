//! What is a sink made of?

mod resource_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;
}

mod domain_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod slot_name_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop_orders", domains(Shop), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod ignored_source_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit"))]
    struct ShopSink;
}

mod ignored_source_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit", "public.log"))]
    struct ShopSink;
}

mod initial_state_missing {
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

    #[replicant_domain(resources(OrderEvent))]
    struct Log;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(
        slot_name = "log",
        sink_kind = append_log,
        initial_state = go_forward,
        domains(Log),
        checkpoint = Checkpoint,
    )]
    struct Sink;
}

mod initial_state_unused {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = Checkpoint)]
    struct Sink;
}
