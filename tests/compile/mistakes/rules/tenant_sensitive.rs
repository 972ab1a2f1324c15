use replicant_sink::prelude::*;

#[replicant(
    table = "orders", sensitive(note, org_id), skip(note),
    multitenancy(strategy = attribute, attribute = org_id),
    tenant_attribute = org_id, //~ tenant_sensitive org_id
    identity(by_number, keys(number)),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
    number: i64,
}
