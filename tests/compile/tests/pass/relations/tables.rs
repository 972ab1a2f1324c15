//! Does every table of a sink have one resource, and every resource a table of its own?

mod duplicate_resource {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(table = "others", actions(read, destroy, create(accept = all)))]
    struct Other {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_domain(resources(Other))]
    struct Crm;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop, Crm), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod duplicate_source {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(source_schema = "crm", source_table = "orders", table = "orders_copy", actions(read, destroy, create(accept = all)))]
    struct Other {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_domain(resources(Other))]
    struct Crm;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop, Crm), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod duplicate_target {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant(source_table = "others", schema = "crm", table = "orders", actions(read, destroy, create(accept = all)))]
    struct Other {
        id: i64,
    }

    #[replicant_domain(resources(Order, Other))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod target_shared_by_tenants {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", multitenancy(strategy = context, schema = "tenant_{}"), tenant_attribute = org, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org: i64,
    }

    #[replicant(source_table = "old_orders", table = "orders", multitenancy(strategy = context, schema = "archive_{}"), tenant_attribute = org, actions(read, destroy, create(accept = all)))]
    struct OldOrder {
        #[replicant(primary_key)]
        id: i64,
        org: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_domain(resources(OldOrder))]
    struct Archive;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop, Archive), checkpoint = ShopCheckpoint)]
    struct ShopSink;
}

mod ignored_source_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }

    #[replicant_domain(resources(Order))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct ShopCheckpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit", "crm.orders"))]
    struct ShopSink;
}

mod target_in_checkpoint_schema {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", source_schema = "replicant", actions(read, destroy, create(accept = all)))]
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

mod resource_path_repeated {
    use replicant_sink::prelude::*;

    trait Hidden {
        type Resource;
    }

    struct First;
    struct Second;

    const _: () = {
        #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
        struct Order {
            id: i64,
        }
        impl Hidden for First {
            type Resource = Order;
        }
    };

    const _: () = {
        #[replicant(table = "payments", actions(read, destroy, create(accept = all)))]
        struct Payment {
            id: i64,
        }
        impl Hidden for Second {
            type Resource = Payment;
        }
    };

    type A = <First as Hidden>::Resource;
    type B = <Second as Hidden>::Resource;

    #[replicant_domain(resources(A, B))]
    struct Shop;

    #[replicant_checkpoint(schema = "replicant")]
    struct Checkpoint;

    #[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = Checkpoint)]
    struct Sink;
}

mod sink_kind_mixed {
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

    #[replicant(table = "customers", actions(read, destroy, create(accept = all)))]
    struct Customer {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }

    #[replicant_domain(resources(Customer))]
    struct Crm;

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
