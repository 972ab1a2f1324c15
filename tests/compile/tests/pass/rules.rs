//! The legal neighbour of each case in `fail/rules`.
#![allow(dead_code)]

mod identifier_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", source_table = "Order Lines", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod schema_reserved {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", schema = catalog, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod columns_empty {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod source_column_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(source = "number")]
        id: i64,
        #[replicant(source = "id")]
        number: i64,
    }
}

mod target_column_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
        #[replicant(column = "Id")]
        number: i64,
    }
}

mod sql_type_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(sql_type = "bigint")]
        id: i64,
    }
}

mod skip_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(a, b), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod skip_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(id), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(source = "number")]
        id: i64,
    }
}

mod identity_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), identity(by_id_2, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod identity_empty {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod identity_key_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod identity_key_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(source = "number")]
        id: i64,
    }
}

mod upsert_identity_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), upsert_identity = by_id, actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod key_generated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(by_id, keys(id)), upsert_identity = by_id, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key, generated)]
        number: i64,
        id: i64,
    }
}

mod primary_action_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), create(record, accept(id))))]
    struct Order {
        id: i64,
    }
}

mod action_name_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), create(record, accept(id)), update(amend, accept(id))))]
    struct Order {
        id: i64,
    }
}

mod action_missing {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, create(accept = all), destroy))]
    struct Order {
        id: i64,
    }
}

mod accept_without_write {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), read(recent)))]
    struct Order {
        id: i64,
    }
}

mod accept_repeated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id))))]
    struct Order {
        id: i64,
    }
}

mod accept_unknown {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept("id"))))]
    struct Order {
        id: i64,
    }
}

mod accept_generated {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id))))]
    struct Order {
        id: i64,
        #[replicant(generated)]
        number: i64,
    }
}

mod accept_private {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id, secret))))]
    struct Order {
        id: i64,
        secret: i64,
    }
}

mod private_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(secret), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}

mod column_not_accepted {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id, amount))))]
    struct Order {
        id: i64,
        amount: i64,
    }
}

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

fn main() {}
