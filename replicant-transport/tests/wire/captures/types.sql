-- Types that are not built in are named by a Type message; a domain by its base type's name.
create schema app;
create type app.mood as enum ('sad', 'so so');
create domain app.positive as numeric(10, 2) check (value > 0);
create type app.pair as (x int, y text);
create table t (id int primary key, m app.mood, p app.positive, c app.pair, ms app.mood[], n numeric(12, 3), v varchar(9));
-- captured
insert into t values (1, 'so so', 1.50, '(1,"x, ""y""")', '{sad,"so so",NULL}', 'NaN', '');
insert into t values (2, null, null, null, null, null, null);
