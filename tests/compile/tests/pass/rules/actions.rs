//! Which actions are there, and what do they accept?

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

mod action_name_reserved {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), update(touch_up, accept(note))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod action_name_invalid {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept = all), update(touch_up, accept(note))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
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

mod column_not_accepted {
    use replicant_sink::prelude::*;

    #[replicant(table = "orders", actions(read, destroy, create(accept(id, amount))))]
    struct Order {
        id: i64,
        amount: i64,
    }
}
