-- Names that need quotes, differ in case only, or are as long as names can be.
create schema "Sch ema";
create table "Sch ema"."T""q.x" ("Id" int primary key, id int, "select" text, "ünï" text, "日本語" text);
create table abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk (v int primary key);
-- captured
insert into "Sch ema"."T""q.x" values (1, 2, 's', 'ü', '本');
insert into abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk values (1);
