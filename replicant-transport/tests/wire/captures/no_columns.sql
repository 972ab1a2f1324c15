-- A table without columns still has rows.
create table t ();
create table dropped (v int);
alter table dropped drop column v;
-- captured
insert into t default values;
insert into dropped default values;
