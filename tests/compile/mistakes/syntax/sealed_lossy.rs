use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    #[replicant(encrypted, lossy)] //~ sealed_lossy lossy
    pan: Sealed<f32>,
}
