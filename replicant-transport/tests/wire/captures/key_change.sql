-- A key image comes only when the key changes; its other columns are placeholders.
create table t (id int primary key, v text not null);
-- captured
begin;
insert into t values (1, 'one'), (2, 'two');
update t set v = 'uno' where id = 1;
update t set id = 3 where id = 1;
delete from t where id = 2;
commit;
