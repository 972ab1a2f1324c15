-- Written by `replicant migrations`: undoes the migration of the same name.

-- table "public"."order_events": created
drop table "public"."order_events";

-- table "mirror"."orders": created
drop table "mirror"."orders";

-- table "mirror"."customer_versions": created
drop table "mirror"."customer_versions";

-- table "Sch ema"."T""q.x": created
drop table "Sch ema"."T""q.x";

-- schema "mirror": created unless it exists; it stays when this is undone

-- schema "Sch ema": created unless it exists; it stays when this is undone

-- schema "replicant": checkpoint created
<drop_ddl of the checkpoint>;
