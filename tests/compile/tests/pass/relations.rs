//! The legal neighbour of each case in `fail/relations`.
#![allow(dead_code)]

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

fn main() {}
