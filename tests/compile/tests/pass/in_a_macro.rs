//! Declarations work inside macros, whose fragments arrive in invisible groups.
#![deny(warnings)]

macro_rules! table {
    ($name:ident, $table:literal, $field:ident: $kind:ty) => {
        #[replicant_sink::replicant(table = $table, actions(read, destroy, create(accept($field))))]
        struct $name {
            #[replicant(primary_key, source = $table)]
            $field: $kind,
        }
    };
}

table!(Order, "orders", id: i64);
table!(Item, "items", number: String);
