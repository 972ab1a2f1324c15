-- Transactional messages take part in the order of changes; others come alone, first, and survive a rollback.
-- options: 'messages', 'true'
create table t (id int primary key);
-- captured
begin;
insert into t values (1);
select pg_logical_emit_message(true, 'in', 'side');
insert into t values (2);
select pg_logical_emit_message(false, 'alone', '\xff00'::bytea);
commit;
select pg_logical_emit_message(true, 'only', '');
begin;
select pg_logical_emit_message(false, 'rolled', 'back');
select pg_logical_emit_message(true, 'gone', 'gone');
rollback;
