//! Which columns are mapped, and what are they called?

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

mod private_mapped {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", skip(secret), actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
}
