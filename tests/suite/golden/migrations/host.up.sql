-- Written by `replicant migrations`: what the declarations ask of the destination.

-- schema "replicant": checkpoint created
<ddl of the checkpoint>;
grant usage on schema "replicant" to "ops";
grant select on "replicant".replicant_watermarks, "replicant".replicant_contracts, "replicant".replicant_leases, "replicant".replicant_tables, "replicant".replicant_targets, "replicant".replicant_decisions, "replicant".replicant_format to "ops";

-- table "mirror"."customer_versions": unique index "customer_versions_version_key" added
create unique index "customer_versions_version_key" on "mirror"."customer_versions" ("org_id", "customer_id", "valid_from_lsn");

-- table "mirror"."customer_versions": unique index "customer_versions_open_key" added
create unique index "customer_versions_open_key" on "mirror"."customer_versions" ("org_id", "customer_id") where "valid_to_lsn" is null;

-- table "mirror"."orders": column "replica_fingerprint" added
alter table "mirror"."orders" add column "replica_fingerprint" bytea;

-- table "mirror"."orders": column "replica_seen_attempt" added
alter table "mirror"."orders" add column "replica_seen_attempt" bytea;

-- table "mirror"."orders": unique index "orders_by_number_key" added
create unique index "orders_by_number_key" on "mirror"."orders" ("org_id", "number");

-- table "mirror"."orders": unique index "orders_by_token_key" added
create unique index "orders_by_token_key" on "mirror"."orders" ("token") where token <> '';

-- table "public"."order_events": unique index "order_events_append_identity_key" added
create unique index "order_events_append_identity_key" on "public"."order_events" ("source_system_id", "source_database", "slot_name", "commit_lsn", "ordinal");
