use replicant_sink::prelude::*;

struct Order;

#[replicant_domain(resources(Order))] //~ E0277 Order
struct Shop;

#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(slot_name = "shop", domains(Order), checkpoint = Shop, message_routes(route("mail", Shop, record)), recovery_horizon = "24h")] //~ E0277 Order //~ E0277 Shop //~ E0277 Shop
struct Sink;
