//! One compile reports every mistake of every item, each at its token.
use replicant_sink::prelude::*;

struct Money;

#[replicant(
    tabel = "order_lines",
    table = "orders",
    skip(note, note),
    on_truncate = drop,
    identity(by_number, keys(nummer)),
    upsert_identity = by_nunber,
    actions(read, create(accept(id, amount, note, colour))),
)]
struct Order {
    #[replicant(primary_key)]
    id: Option<i64>,
    #[replicant(lossi)]
    amount: Money,
    number: i64,
    note: String,
}

#[replicant_domain(resources(Order, Missing))]
struct Shop;

#[replicant_sink(slot_name = "Shop", domains(Shop, Order), checkpoint = Shop, ignored_sources("public.orders", "audit"))]
struct ShopSink;

// The type exists whatever is wrong with its declaration.
fn number(order: &Order) -> i64 {
    order.number
}
