//! What do the tests declare? Two states of the same tables, what no migration can be written for, and what is not in
//! the schema that its table names.

/// What is declared first.
#[allow(dead_code, reason = "only what is declared matters")]
pub(crate) mod before {
    use chrono::{DateTime, Utc};
    use replicant_sink::prelude::*;
    use rust_decimal::Decimal;

    #[replicant(
        schema = "mirror",
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        sensitive(pan),
        identity(by_number, keys(number)),
        identity(by_token, keys(token), all_tenants, where = "token <> ''"),
        upsert_identity = by_number,
        snapshot_provenance,
        actions(
            read,
            destroy,
            create(accept = all),
            update(accept = all),
            update(replicant_mark_seen, private, mark_seen),
            destroy(replicant_retire_unseen, private),
        )
    )]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
        pub org_id: i64,
        pub number: i32,
        pub token: String,
        #[replicant(sql_type = "numeric(12,2)")]
        pub amount: Decimal,
        pub note: String,
        pub placed_at: DateTime<Utc>,
        #[replicant(encrypted)]
        pub pan: Sealed<String>,
        #[replicant(private)]
        pub replica_fingerprint: Option<Vec<u8>>,
        #[replicant(private)]
        pub replica_seen_attempt: Option<Vec<u8>>,
    }

    #[replicant(
        schema = "mirror",
        source_table = "customers",
        table = "customer_versions",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        history_strategy = scd2,
        history_business_key(customer_id),
        history_valid_from_timestamp_attribute = valid_from,
        identity(version_key, keys(customer_id, valid_from_lsn)),
        upsert_identity = version_key,
        on_truncate = close,
        actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn)))
    )]
    pub struct CustomerVersion {
        #[replicant(primary_key, generated)]
        pub version_id: i64,
        #[replicant(source = "id")]
        pub customer_id: i64,
        pub org_id: i64,
        pub name: String,
        pub valid_from_lsn: i64,
        pub valid_to_lsn: Option<i64>,
        pub valid_from: Option<DateTime<Utc>>,
    }

    #[replicant(
        schema = "Sch ema",
        table = "T\"q.x",
        actions(read, destroy, create(accept = all), update(accept = all))
    )]
    pub struct Odd {
        #[replicant(primary_key, column = "sel ect")]
        pub id: i64,
        pub text: Option<String>,
    }

    #[replicant_domain(resources(Order, CustomerVersion, Odd))]
    pub struct Everything;

    #[replicant_checkpoint(schema = "replicant", grants(select = "ops"))]
    pub struct Kept;

    #[replicant_sink(slot_name = "first", domains(Everything), checkpoint = Kept)]
    pub struct Sink;

    #[replicant(
        source_table = "orders",
        table = "order_events",
        append_log,
        on_truncate = append,
        identity(
            append_identity,
            keys(source_system_id, source_database, slot_name, commit_lsn, ordinal),
            all_tenants
        ),
        actions(read, create(append, accept = all))
    )]
    pub struct OrderEvent {
        #[replicant(primary_key, generated)]
        pub event_id: i64,
        pub source_system_id: String,
        pub source_database: String,
        pub slot_name: String,
        pub commit_lsn: i64,
        pub ordinal: i64,
        pub operation: String,
        pub origin: String,
        pub snapshot_attempt: Option<Vec<u8>>,
        pub id: Option<i64>,
        #[replicant(before = id)]
        pub id_before: Option<i64>,
    }

    #[replicant_domain(resources(OrderEvent))]
    pub struct Events;

    #[replicant_checkpoint(schema = "replicant")]
    pub struct KeptToo;

    #[replicant_sink(
        slot_name = "events",
        sink_kind = append_log,
        initial_state = go_forward,
        domains(Events),
        checkpoint = KeptToo
    )]
    pub struct EventSink;
}

/// What is declared then: a column renamed, one wider, one nullable, one gone and one new, an identity gone and one
/// new, a table gone and one new.
#[allow(dead_code, reason = "only what is declared matters")]
pub(crate) mod after {
    use chrono::{DateTime, Utc};
    use replicant_sink::prelude::*;
    use rust_decimal::Decimal;

    pub use super::before::{CustomerVersion, EventSink, Kept};

    #[replicant(
        schema = "mirror",
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        sensitive(pan),
        identity(by_number, keys(number)),
        identity(by_place, keys(place)),
        upsert_identity = by_number,
        snapshot_provenance,
        actions(
            read,
            destroy,
            create(accept = all),
            update(accept = all),
            update(replicant_mark_seen, private, mark_seen),
            destroy(replicant_retire_unseen, private),
        )
    )]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
        pub org_id: i64,
        pub number: i64,
        #[replicant(column = "token_text")]
        pub token: String,
        #[replicant(sql_type = "numeric(14,2)")]
        pub amount: Decimal,
        pub note: Option<String>,
        pub place: i32,
        #[replicant(encrypted)]
        pub pan: Sealed<String>,
        #[replicant(private)]
        pub replica_fingerprint: Option<Vec<u8>>,
        #[replicant(private)]
        pub replica_seen_attempt: Option<Vec<u8>>,
    }

    #[replicant(
        schema = "mirror",
        table = "labels",
        actions(read, destroy, create(accept = all), update(accept = all))
    )]
    pub struct Label {
        #[replicant(primary_key)]
        pub id: i64,
        pub seen: DateTime<Utc>,
    }

    #[replicant_domain(resources(Order, CustomerVersion, Label))]
    pub struct Everything;

    #[replicant_sink(slot_name = "first", domains(Everything), checkpoint = Kept)]
    pub struct Sink;

    /// A conversion that loses values.
    pub mod narrower {
        use replicant_sink::prelude::*;

        #[replicant(
            schema = "mirror",
            table = "labels",
            actions(read, destroy, create(accept = all), update(accept = all))
        )]
        pub struct Label {
            #[replicant(primary_key)]
            pub id: i32,
        }

        #[replicant_domain(resources(Label))]
        pub struct Everything;

        #[replicant_sink(slot_name = "first", domains(Everything), checkpoint = super::Kept)]
        pub struct Sink;
    }
}

/// What no migration can be written for.
#[allow(dead_code, reason = "only what is declared matters")]
pub(crate) mod unsaid {
    use replicant_sink::prelude::*;

    #[replicant(table = "t", actions(read, destroy, create(accept = all), update(accept = all)))]
    pub struct Anything {
        #[replicant(primary_key)]
        pub id: i64,
        pub point: PgText,
    }

    #[replicant_domain(resources(Anything))]
    pub struct Domain;

    #[replicant_checkpoint(schema = "replicant")]
    pub struct Kept;

    #[replicant_sink(slot_name = "one", domains(Domain), checkpoint = Kept)]
    pub struct Sink;
}

/// A schema for each tenant, claims of messages, and neither.
#[allow(dead_code, reason = "only what is declared matters")]
pub(crate) mod placed {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "payments",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all), update(accept = all))
    )]
    pub struct Payment {
        #[replicant(primary_key)]
        pub id: i64,
        pub org: i64,
        pub number: i32,
    }

    #[replicant(
        auxiliary,
        table = "mail_outbox",
        actions(read, create(record, accept(content), message(retention = "72h")))
    )]
    pub struct MailOutbox {
        #[replicant(primary_key, generated)]
        pub id: i64,
        pub content: String,
        #[replicant(private)]
        pub operation_key: String,
        #[replicant(private)]
        pub content_digest: String,
    }

    #[replicant_domain(resources(Payment))]
    pub struct Payments;

    #[replicant_domain(resources(MailOutbox))]
    pub struct Outbox;

    #[replicant_checkpoint(schema = "replicant", grants(select = "ops"))]
    pub struct Kept;

    #[replicant_sink(
        slot_name = "placed",
        domains(Payments, Outbox),
        checkpoint = Kept,
        message_routes(route("mail", MailOutbox, record)),
        recovery_horizon = "24h"
    )]
    pub struct Sink;

    /// The same without messages, and its checkpoint read by nobody.
    pub mod silent {
        use replicant_sink::prelude::*;

        #[replicant_checkpoint(schema = "replicant")]
        pub struct Kept;

        #[replicant_sink(slot_name = "placed", domains(super::Payments), checkpoint = Kept)]
        pub struct Sink;
    }
}
