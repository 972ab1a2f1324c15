use replicant_sink::prelude::*;

trait Hidden {
    type Resource;
}

struct First;
struct Second;

const _: () = {
    #[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
    impl Hidden for First {
        type Resource = Order;
    }
};

const _: () = {
    #[replicant(table = "payments", actions(read, destroy, create(accept = all)))]
    struct Order {
        id: i64,
    }
    impl Hidden for Second {
        type Resource = Order;
    }
};

type A = <First as Hidden>::Resource;
type B = <Second as Hidden>::Resource;

#[replicant_domain(resources(A, B))]
struct Shop;

#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = Checkpoint)] //~ resource_path_repeated Shop
struct Sink;
