-- A transaction that reached the source through replication says where it came from.
create table t (id int primary key);
-- captured
select pg_replication_origin_create('wire_up');
select pg_replication_origin_session_setup('wire_up');
begin;
select pg_replication_origin_xact_setup('0/ABCDEF', '2026-01-02 03:04:05+00');
insert into t values (1);
commit;
select pg_replication_origin_session_reset();
select pg_replication_origin_drop('wire_up');
