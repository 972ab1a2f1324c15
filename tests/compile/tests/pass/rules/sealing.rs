//! Which columns are secret?

mod sensitive_repeated {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}

mod sensitive_unmapped {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}

mod sealed_key {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        identity(by_pan, keys(id)),
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}

mod encrypted_without_value {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        sensitive(pan, cvv),
        skip(cvv),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        #[replicant(generated)]
        secret: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}

mod sealed_sql_type {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        #[replicant(primary_key, sql_type = "bigint")]
        id: i64,
        #[replicant(encrypted)]
        pan: Sealed<String>,
    }
}
