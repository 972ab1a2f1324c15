-- Rows that are alike, and NULLs, under FULL without a key.
create table t (a int, b text);
alter table t replica identity full;
-- captured
insert into t values (1, null), (1, null);
update t set b = 'x' where ctid = '(0,1)';
delete from t where b is null;
