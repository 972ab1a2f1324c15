-- A key change leaves an unchanged out-of-line column out; an out-of-line key is itself sent in K and left out in N.
create table t (id int primary key, big text);
alter table t alter column big set storage external;
create table k (id text primary key, note text);
alter table k alter column id set storage external;
-- captured
insert into t values (1, repeat('b', 2500));
update t set id = 2;
insert into k values (repeat('k', 2300), 'a');
update k set note = 'z';
