-- Each row is laid out as the Relation before it says, also within one transaction; equal descriptions are repeated.
create table t (id int primary key, a text, b int);
-- captured
begin;
insert into t values (1, 'a', 1);
alter table t add column c text default 'dflt' not null;
insert into t values (2, 'a', 2);
alter table t drop column a;
insert into t values (3, 3, 'c');
alter table t alter column b type bigint;
insert into t values (4, 4, 'c');
alter table t rename to renamed;
insert into renamed values (5, 5, 'c');
commit;
analyze renamed;
insert into renamed values (6, 6, 'c');
alter table renamed replica identity full;
update renamed set c = 'z' where id = 6;
begin;
drop table renamed;
create table renamed (id int primary key, b bigint, c text not null);
insert into renamed values (1, 1, 'new');
commit;
