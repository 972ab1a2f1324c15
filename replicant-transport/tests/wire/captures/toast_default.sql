-- An out-of-line value that an update leaves alone is not sent, under the default replica identity.
create table t (id int primary key, big text, note text);
alter table t alter column big set storage external;
-- captured
insert into t values (1, repeat('b', 2500), 'a'), (2, null, 'a');
update t set note = 'z';
update t set big = repeat('c', 2500) where id = 1;
delete from t;
