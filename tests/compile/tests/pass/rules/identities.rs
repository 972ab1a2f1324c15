//! How are rows told apart and found?

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

mod identity_partial {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(live, keys(id)), upsert_identity = live, actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod identity_predicate_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", identity(live, keys(id), where = "note is null"), actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}
