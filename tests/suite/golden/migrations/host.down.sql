-- Written by `replicant migrations`: undoes the migration of the same name.

-- table "public"."order_events": unique index "order_events_append_identity_key" added
drop index "public"."order_events_append_identity_key";

-- table "mirror"."orders": unique index "orders_by_token_key" added
drop index "mirror"."orders_by_token_key";

-- table "mirror"."orders": unique index "orders_by_number_key" added
drop index "mirror"."orders_by_number_key";

-- table "mirror"."orders": column "replica_seen_attempt" added
alter table "mirror"."orders" drop column "replica_seen_attempt";

-- table "mirror"."orders": column "replica_fingerprint" added
alter table "mirror"."orders" drop column "replica_fingerprint";

-- table "mirror"."customer_versions": unique index "customer_versions_open_key" added
drop index "mirror"."customer_versions_open_key";

-- table "mirror"."customer_versions": unique index "customer_versions_version_key" added
drop index "mirror"."customer_versions_version_key";

-- schema "replicant": checkpoint created
<drop_ddl of the checkpoint>;
