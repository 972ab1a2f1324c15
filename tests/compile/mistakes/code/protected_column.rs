use replicant_sink::prelude::*;

#[replicant(
    source_table = "orders", table = "order_versions",
    multitenancy(strategy = attribute, attribute = org_id), tenant_attribute = org_id,
    history_strategy = scd2, history_business_key(order_id),
    identity(version, keys(order_id, valid_from_lsn)), upsert_identity = version,
    actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn))),
)]
struct OrderVersion {
    #[replicant(primary_key, generated)]
    id: i64,
    #[replicant(source = "id")]
    order_id: i64,
    org_id: i64,
    note: Option<String>,
    valid_from_lsn: i64,
    valid_to_lsn: Option<i64>,
}

struct H;

impl Change for H {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        changeset.set(OrderVersion::COLUMNS.id, 1)?; //~ E0277 OrderVersion::COLUMNS.id
        changeset.set(OrderVersion::COLUMNS.order_id, 1)?; //~ E0277 OrderVersion::COLUMNS.order_id
        changeset.set(OrderVersion::COLUMNS.org_id, 1)?; //~ E0277 OrderVersion::COLUMNS.org_id
        changeset.set(OrderVersion::COLUMNS.valid_to_lsn, Some(1))?; //~ E0277 OrderVersion::COLUMNS.valid_to_lsn
        changeset.set(OrderVersion::COLUMNS.note, 1)?; //~ E0308 1
        changeset.set(OrderVersion::COLUMNS.note, None)
    }
}
