//! Somebody's first attempt at mirroring a shop.
use replicant_sink::prelude::*;

struct Money;

#[replicant(
    tabel = "orders", //~ option_unknown tabel
    table = "orders",
    source_schema = "pg_catalog", //~ schema_reserved "pg_catalog"
    lossy, //~ option_misplaced lossy
    skip(note, note), //~ skip_repeated note
    skip(blob), //~ option_repeated skip
    sensitive(pan, pan, pin, phone), //~ sensitive_repeated pan //~ sensitive_unmapped pin
    on_truncate = drop, //~ option_value drop
    on_schema_change(halt), //~ option_value (halt)
    multitenancy(strategy = attribute, schema = "tenant_{}"), //~ tenancy_attribute_missing attribute //~ tenancy_option_unused schema
    tenant_attribute = organisation, //~ tenant_field_unknown organisation
    tenant_fn(args("eu")), //~ option_missing tenant_fn //~ tenant_source_repeated tenant_fn
    history_close_action = close, //~ history_option_unused history_close_action
    append_slot_attribute = slot, //~ append_option_unused append_slot_attribute
    snapshot_mark_action = mark, //~ snapshot_option_unused snapshot_mark_action
    identity(by_number, keys(nummer, id, id)), //~ identity_key_unknown nummer //~ identity_key_repeated id
    identity(by_number, keys()), //~ identity_repeated by_number //~ identity_empty keys
    identity(live, keys(number), where = " "), //~ identity_predicate_invalid " "
    upsert_identity = by_nunber, //~ upsert_identity_unknown by_nunber
    actions( //~ action_missing actions
        read(accept = all), //~ accept_without_write accept
        create(accept(id, amount, colour, secret, made)), //~ accept_unknown colour //~ accept_private secret //~ accept_generated made
        create(accept = all), //~ primary_action_repeated create
        update(read, accept(amount, amount)), //~ action_name_reserved read //~ accept_repeated amount
        update("touch up", multitenancy = sometimes), //~ action_name_invalid "touch up" //~ option_value sometimes
        destroy(forget, mark_seen), //~ mark_seen_elsewhere mark_seen
    ),
)]
struct Order {
    #[replicant(primary_key)]
    id: Option<i64>, //~ key_nullable Option<i64>
    #[replicant(lossi)] //~ option_unknown lossi
    amount: Money, //~ column_type Money
    number: i64,
    #[replicant(column = "number")] //~ target_column_repeated "number"
    total: i64,
    #[replicant(source = "number", sql_type = "")] //~ source_column_repeated "number" //~ sql_type_invalid ""
    weight: f64,
    #[replicant(generated, source = "made_at")] //~ generated_source source
    made: i64,
    #[replicant(private)]
    secret: String,
    #[replicant(encrypted)]
    pan: String, //~ encrypted_type String
    phone: String, //~ sensitive_plain String
    sealed: Sealed<i64>, //~ encrypted_missing Sealed<i64>
    #[replicant(before = amount)] //~ before_outside_log before
    amount_before: Option<i64>,
}

#[replicant(
    source_table = "orders", table = "order_versions",
    history_strategy = scd2, //~ close_action_missing scd2
    history_business_key(id, idd), //~ business_key_primary id //~ business_key_unknown idd
    identity(version, keys(id)),
    upsert_identity = version,
    actions(read, destroy, create(accept = all)),
)]
struct OrderVersion {
    #[replicant(primary_key)]
    id: i64,
    valid_from_lsn: i32, //~ role_storage i32
    valid_to_lsn: i64, //~ role_nullability i64
}

#[replicant(table = "customers", actions(read, destroy, create(accept = all)))]
struct Customer {
    #[replicant(primary_key)]
    id: i64,
}

#[replicant(table = "customers", source_table = "clients", actions(read, destroy, create(accept = all)))]
struct Client {
    #[replicant(primary_key)]
    id: i64,
}

#[replicant_domain(resources(Customer, Client, Customer))] //~ resource_repeated Customer
struct Crm;

#[replicant_checkpoint(schema = "information_schema", grants(selct = "ops"))] //~ schema_reserved "information_schema" //~ option_unknown selct
struct Checkpoint;

#[replicant_sink(
    slot_name = "Shop-Orders", //~ slot_name_invalid "Shop-Orders"
    domains(Crm, Crm), //~ duplicate_target Crm //~ domain_repeated Crm
    checkpoint = Checkpoint,
    initial_state = snapshot, //~ initial_state_unused initial_state
    ignored_sources("public.orders", "audit"), //~ ignored_source_invalid "audit"
    message_routes(route("mail", Customer), route("", Customer, record)), //~ option_value ("mail", Customer) //~ message_prefix_invalid "" //~ destination_action_missing record
    recovery_horizon = "tomorrow", //~ period_invalid "tomorrow"
)]
struct Sink;

// The type exists whatever is wrong with its declaration.
fn number(order: &Order) -> i64 {
    order.number
}
