use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

#[replicant_domain(resources(Order, Order))] //~ resource_repeated Order
struct Shop;
