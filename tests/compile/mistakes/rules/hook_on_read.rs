use replicant_sink::prelude::*;

struct Trimmed;

impl Change for Trimmed {
    fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
        Ok(())
    }
}

#[replicant(table = "orders", actions(read(changes(Trimmed)), destroy, create(accept = all)))] //~ hook_on_read changes
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
