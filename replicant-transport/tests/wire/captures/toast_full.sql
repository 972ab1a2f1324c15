-- Under FULL the old image carries the out-of-line value and the new image still leaves it out.
create table t (id int primary key, big text, note text);
alter table t alter column big set storage external;
alter table t replica identity full;
-- captured
insert into t values (1, repeat('b', 2500), 'a');
update t set note = 'z';
update t set note = note;
delete from t;
