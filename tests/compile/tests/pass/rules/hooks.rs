//! Where do hooks belong?

mod hook_repeated {
    use replicant_sink::prelude::*;

    struct Trimmed;

    impl Change for Trimmed {
        fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(table = "orders", actions(read, destroy, create(accept = all, changes(Trimmed))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod hook_never_run {
    use replicant_sink::prelude::*;

    struct Trimmed;

    impl Change for Trimmed {
        fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(
        table = "orders",
        actions(read, destroy(validations(Kept)), create(accept = all, changes(Trimmed)), update(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }

    struct Kept;

    impl Validation for Kept {
        fn validate(_: &Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }
}

mod hook_on_read {
    use replicant_sink::prelude::*;

    struct Trimmed;

    impl Change for Trimmed {
        fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(table = "orders", actions(read, destroy, create(accept = all, changes(Trimmed))))]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        note: Option<String>,
    }
}

mod touches_repeated {
    use replicant_sink::prelude::*;

    struct WithReceipt;

    impl Hook for WithReceipt {
        const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

        async fn run(_: &mut Changeset<'_>, _: &mut Actions<'_>) -> Result<(), HookError> {
            Ok(())
        }
    }

    #[replicant(table = "payments", actions(read, destroy, create(accept = all, changes(WithReceipt), touches(Receipt))))]
    struct Payment {
        #[replicant(primary_key)]
        id: i64,
    }

    #[replicant(
        auxiliary,
        table = "receipts",
        actions(create(record, accept(payment_id)))
    )]
    struct Receipt {
        #[replicant(primary_key, generated)]
        id: i64,
        payment_id: i64,
    }
}
