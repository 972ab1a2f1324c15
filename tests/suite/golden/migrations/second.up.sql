-- Written by `replicant migrations`: what the declarations ask of the destination.

-- table "mirror"."labels": created
create table "mirror"."labels" (
    "id" bigint not null,
    "seen" timestamptz not null,
    constraint "labels_pkey" primary key ("id")
);

-- table "mirror"."orders": unique index "orders_by_token_key" removed
drop index "mirror"."orders_by_token_key";

-- table "mirror"."orders": column "token" renamed to "token_text"
alter table "mirror"."orders" rename column "token" to "token_text";

-- table "mirror"."orders": column "number" changed from integer to bigint
alter table "mirror"."orders" alter column "number" type bigint using "number"::bigint;

-- table "mirror"."orders": column "amount" changed from numeric(12,2) to numeric(14,2)
alter table "mirror"."orders" alter column "amount" type numeric(14,2) using "amount"::numeric(14,2);

-- table "mirror"."orders": column "note" may be NULL
alter table "mirror"."orders" alter column "note" drop not null;

-- table "mirror"."orders": column "place" added; it may be NULL, because rows that exist have no value of it
alter table "mirror"."orders" add column "place" integer;

-- table "mirror"."orders": column "placed_at" no longer declared
alter table "mirror"."orders" alter column "placed_at" drop not null;
-- Not run, because it loses data:
--   alter table "mirror"."orders" drop column "placed_at";

-- table "mirror"."orders": unique index "orders_by_place_key" added
create unique index "orders_by_place_key" on "mirror"."orders" ("org_id", "place");

-- table "Sch ema"."T""q.x": no longer declared
-- Not run, because it loses data:
--   drop table "Sch ema"."T""q.x";
