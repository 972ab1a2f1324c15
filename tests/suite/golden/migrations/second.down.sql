-- Written by `replicant migrations`: undoes the migration of the same name.

-- table "Sch ema"."T""q.x": no longer declared
-- Only where it was dropped by hand:
--   create table "Sch ema"."T""q.x" (
--       "sel ect" bigint not null,
--       "text" text,
--       constraint "T""q.x_pkey" primary key ("sel ect")
--   );

-- table "mirror"."orders": unique index "orders_by_place_key" added
drop index "mirror"."orders_by_place_key";

-- table "mirror"."orders": column "placed_at" no longer declared
alter table "mirror"."orders" alter column "placed_at" set not null;
-- Only where it was dropped by hand:
--   alter table "mirror"."orders" add column "placed_at" timestamptz;

-- table "mirror"."orders": column "place" added; it may be NULL, because rows that exist have no value of it
alter table "mirror"."orders" drop column "place";

-- table "mirror"."orders": column "note" may be NULL
alter table "mirror"."orders" alter column "note" set not null;

-- table "mirror"."orders": column "amount" changed from numeric(12,2) to numeric(14,2)
alter table "mirror"."orders" alter column "amount" type numeric(12,2) using "amount"::numeric(12,2);

-- table "mirror"."orders": column "number" changed from integer to bigint
alter table "mirror"."orders" alter column "number" type integer using "number"::integer;

-- table "mirror"."orders": column "token" renamed to "token_text"
alter table "mirror"."orders" rename column "token_text" to "token";

-- table "mirror"."orders": unique index "orders_by_token_key" removed
create unique index "orders_by_token_key" on "mirror"."orders" ("token") where token <> '';

-- table "mirror"."labels": created
drop table "mirror"."labels";
