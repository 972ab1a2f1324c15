-- Key columns in another order than the table's, and an index as replica identity.
create table c (a int, v text, b int, primary key (b, a));
create table i (id int primary key, code text not null unique, v text);
alter table i replica identity using index i_code_key;
-- captured
insert into c values (1, 'x', 2);
update c set a = 7;
delete from c;
insert into i values (1, 'k1', 'x');
update i set id = 2;
update i set code = 'k2';
delete from i;
