-- The same stream in binary; NULL stays NULL.
-- options: 'binary', 'true'
create type mood as enum ('sad', 'ok');
create table t (id int primary key, b bigint, s text, u uuid, m mood, y bytea, n numeric, a int[]);
-- captured
insert into t values (1, -2, 'text', '00112233-4455-6677-8899-aabbccddeeff', 'ok', '\x00ff', 1.5, '{1,NULL}');
update t set s = null, y = '';
