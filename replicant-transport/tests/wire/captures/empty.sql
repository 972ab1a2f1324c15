-- Recorded on PostgreSQL 12, which announces transactions that have nothing to say.
create unlogged table quiet (id int);
create table t (id int primary key);
-- captured
create table more (id int primary key);
insert into quiet values (1);
insert into t values (1);
begin;
insert into t values (2);
rollback;
create index on t (id);
insert into t values (3);
