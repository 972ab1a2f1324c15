//! Declarations work without a prelude, with the library under another name, and beside derives.
#![no_implicit_prelude]
#![deny(warnings)]

extern crate replicant_sink as renamed;

mod without_prelude {
    #[::replicant_sink::replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    #[derive(::core::clone::Clone, ::core::fmt::Debug)]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
        pub note: ::core::option::Option<::std::string::String>,
    }

    #[::replicant_sink::replicant_domain(resources(Order))]
    pub struct Shop;
}

mod nothing_mirrored_yet {
    #[::replicant_sink::replicant_domain(resources())]
    pub struct Empty;

    #[::replicant_sink::replicant_checkpoint(schema = replicant)]
    pub struct Checkpoint;

    #[::replicant_sink::replicant_sink(slot_name = shop, domains(), checkpoint = Checkpoint)]
    pub struct Sink;
}

mod renamed_library {
    #[::replicant_sink::replicant(crate = crate::hygiene::renamed, table = "orders", actions(read, destroy, create(accept = all)))]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
    }

    #[::replicant_sink::replicant_domain(crate = crate::hygiene::renamed, resources(Order))]
    pub struct Shop;

    #[::replicant_sink::replicant_checkpoint(crate = crate::hygiene::renamed, schema = "replicant")]
    pub struct Checkpoint;

    #[::replicant_sink::replicant_sink(crate = crate::hygiene::renamed, slot_name = "shop", domains(Shop), checkpoint = Checkpoint)]
    pub struct Sink;
}
