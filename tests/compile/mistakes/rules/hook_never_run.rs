use replicant_sink::prelude::*;

struct Trimmed;

impl Change for Trimmed {
    fn change(_: &mut Changeset<'_>) -> Result<(), HookError> {
        Ok(())
    }
}

#[replicant(
    table = "orders",
    actions(read, destroy, create(accept = all), update(accept = all, changes(Trimmed))), //~ hook_never_run Trimmed
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
