//! Declarations work without a prelude, with the library under another name, inside modules and functions, under
//! every lint, and beside names that generated code could have taken.
#![no_implicit_prelude]
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
#![deny(
    non_snake_case,
    non_camel_case_types,
    non_upper_case_globals,
    unused,
    unused_qualifications
)]

extern crate replicant_sink as renamed;

mod without_prelude {
    #[::replicant_sink::replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    #[derive(::core::clone::Clone, ::core::fmt::Debug)]
    pub(super) struct Order {
        #[replicant(primary_key)]
        pub(super) id: i64,
        pub(super) note: ::core::option::Option<::std::string::String>,
    }

    #[::replicant_sink::replicant(
        source_table = "payments", table = "payment_versions",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_fn(path = tenant, args("eu")),
        sensitive(pan),
        history_strategy = scd2,
        history_business_key(payment_id),
        identity(version, keys(payment_id, valid_from_lsn)),
        upsert_identity = version,
        actions(
            read,
            destroy,
            create(accept = all, changes(Same), validations(Same)),
            update(close_version, accept(valid_to_lsn)),
        ),
    )]
    #[derive(::core::fmt::Debug)]
    pub(super) struct PaymentVersion {
        #[replicant(primary_key, generated)]
        id: i64,
        #[replicant(source = id)]
        payment_id: i64,
        org_id: ::std::string::String,
        #[replicant(encrypted)]
        pan: ::replicant_sink::sealed::Sealed<::std::string::String>,
        valid_from_lsn: i64,
        valid_to_lsn: ::core::option::Option<i64>,
    }

    #[::replicant_sink::replicant(
        auxiliary,
        table = "outbox",
        actions(
            create(record, accept(content), message(retention = "72h")),
            create(keep, accept(content)),
        )
    )]
    #[derive(::core::fmt::Debug)]
    pub(super) struct Outbox {
        #[replicant(primary_key, generated)]
        id: i64,
        content: ::std::string::String,
    }

    /// A log, of no tenant although a schema for each is named.
    #[::replicant_sink::replicant(
        source_table = "payments", table = "payment_events",
        multitenancy(strategy = context, schema = "tenant_{}", global),
        append_log,
        identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
        actions(read, create(append, accept = all)),
    )]
    #[derive(::core::fmt::Debug)]
    pub(super) struct PaymentEvent {
        source_system_id: ::std::string::String,
        source_database: ::std::string::String,
        slot_name: ::std::string::String,
        commit_lsn: i64,
        ordinal: i64,
        operation: ::std::string::String,
        origin: ::std::string::String,
        snapshot_attempt: ::core::option::Option<::std::vec::Vec<u8>>,
        pub(super) org_id: ::std::string::String,
        amount: ::core::option::Option<i64>,
        #[replicant(before = amount)]
        amount_before: ::core::option::Option<i64>,
    }

    /// Provenance, and a hook that runs an action.
    #[::replicant_sink::replicant(
        table = "customers",
        snapshot_provenance,
        actions(
            read,
            destroy,
            create(accept = all, changes(Recorded), touches(Outbox)),
            update(replicant_mark_seen, private, mark_seen),
            destroy(replicant_retire_unseen, private),
        ),
    )]
    #[derive(::core::fmt::Debug)]
    pub(super) struct Customer {
        #[replicant(primary_key)]
        pub(super) id: i64,
        #[replicant(private)]
        replica_fingerprint: ::core::option::Option<::std::vec::Vec<u8>>,
        #[replicant(private)]
        replica_seen_attempt: ::core::option::Option<::std::vec::Vec<u8>>,
    }

    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct Recorded;

    impl ::replicant_sink::hooks::Hook for Recorded {
        const PARTICIPANTS: &'static [::replicant_sink::contract::resource::ActionRef] =
            &[Outbox::ACTIONS.keep];

        async fn run(
            _: &mut ::replicant_sink::changeset::Changeset<'_>,
            _: &mut ::replicant_sink::changeset::Actions<'_>,
        ) -> ::core::result::Result<(), ::replicant_sink::hooks::HookError> {
            ::core::result::Result::Ok(())
        }
    }

    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct Same;

    impl ::replicant_sink::hooks::Change for Same {
        fn change(
            _: &mut ::replicant_sink::changeset::Changeset<'_>,
        ) -> ::core::result::Result<(), ::replicant_sink::hooks::HookError> {
            ::core::result::Result::Ok(())
        }
    }

    impl ::replicant_sink::hooks::Validation for Same {
        fn validate(
            _: &::replicant_sink::changeset::Changeset<'_>,
        ) -> ::core::result::Result<(), ::replicant_sink::hooks::HookError> {
            ::core::result::Result::Ok(())
        }
    }

    fn tenant(
        row: &::replicant_sink::tenant::RowView<'_>,
        _: &[&str],
    ) -> ::core::result::Result<
        ::replicant_sink::tenant::Tenant,
        ::replicant_sink::tenant::TenantError,
    > {
        ::replicant_sink::tenant::Tenant::new(row.text("org_id")?)
    }

    #[::replicant_sink::replicant_domain(resources(Order, PaymentVersion, Customer, Outbox))]
    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct Shop;

    #[::replicant_sink::replicant_checkpoint(schema = replicant)]
    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct Checkpoint;

    #[::replicant_sink::replicant_sink(
        slot_name = shop,
        domains(Shop),
        checkpoint = Checkpoint,
        message_routes(route("mail", Outbox, record)),
        recovery_horizon = "24h",
    )]
    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct Sink;

    #[::replicant_sink::replicant_domain(resources(PaymentEvent))]
    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct Events;

    #[::replicant_sink::replicant_sink(
        slot_name = events,
        domains(Events),
        checkpoint = Checkpoint,
        sink_kind = append_log,
        initial_state = go_forward,
    )]
    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
    pub(super) struct EventSink;
}

mod nothing_mirrored_yet {
    #[::replicant_sink::replicant_domain(resources())]
    pub(super) struct Empty;

    #[::replicant_sink::replicant_checkpoint(schema = replicant)]
    pub(super) struct Checkpoint;

    #[::replicant_sink::replicant_sink(slot_name = shop, domains(), checkpoint = Checkpoint)]
    pub(super) struct Sink;
}

mod renamed_library {
    #[::replicant_sink::replicant(crate = crate::hygiene::renamed, table = "orders", actions(read, destroy, create(accept = all)))]
    pub(super) struct Order {
        #[replicant(primary_key)]
        pub(super) id: i64,
    }

    #[::replicant_sink::replicant_domain(crate = crate::hygiene::renamed, resources(Order))]
    pub(super) struct Shop;

    #[::replicant_sink::replicant_checkpoint(crate = crate::hygiene::renamed, schema = "replicant")]
    pub(super) struct Checkpoint;

    #[::replicant_sink::replicant_sink(crate = crate::hygiene::renamed, slot_name = "shop", domains(Shop), checkpoint = Checkpoint)]
    pub(super) struct Sink;
}

/// Types and macros of the host that have the names of ours or of the standard library's.
mod shadowed {
    macro_rules! concat {
        () => {};
    }
    pub(super) struct ResourceSpec;
    pub(super) struct ActionRef;
    pub(super) enum Option {}
    pub(super) type OrderColumns = i64;

    #[::replicant_sink::replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    pub(super) struct Order {
        #[replicant(primary_key)]
        pub(super) id: OrderColumns,
        pub(super) r#type: ::std::string::String,
    }

    pub(super) fn used() -> (ResourceSpec, ActionRef, ::core::option::Option<Option>) {
        concat!();
        (ResourceSpec, ActionRef, ::core::option::Option::None)
    }
}

#[test]
fn generated_names_are_where_the_item_is() {
    use ::replicant_sink::resource::Resource;

    ::core::assert!(without_prelude::Order::PATH.ends_with("::hygiene::without_prelude::Order"));
    ::core::assert_eq!(shadowed::Order::COLUMNS.r#type.field(), "type");
    ::core::assert_eq!(without_prelude::Outbox::ACTIONS.record.action, "record");
    ::core::assert_eq!(
        without_prelude::PaymentEvent::COLUMNS.org_id.field(),
        "org_id"
    );
    ::core::assert_eq!(without_prelude::Customer::COLUMNS.id.field(), "id");
    let _ = shadowed::used();
}

#[test]
fn a_declaration_inside_a_function_is_one() {
    use ::replicant_sink::resource::Resource;

    #[::replicant_sink::replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Local {
        #[replicant(primary_key)]
        id: i64,
    }

    ::core::assert_eq!(Local::SPEC.primary_key, ["id"]);
    ::core::assert_eq!(Local::COLUMNS.id.field(), "id");
}
