create function keep_version() returns trigger language plpgsql as $$
declare
    at bigint := pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0');
begin
    if tg_op <> 'INSERT' then
        update public.product_versions
        set valid_to_lsn = at, valid_to = pg_catalog.now(), is_current = false
        where product_id = old.id and valid_to_lsn is null;
    end if;
    if tg_op <> 'DELETE' then
        insert into public.product_versions
            (product_id, sku, name, stock, price, active, updated_at, attributes, valid_from_lsn, valid_from, is_current)
        values (new.id, new.sku, new.name, new.stock, new.price, new.active, new.updated_at, new.attributes,
            at, pg_catalog.now(), true);
    end if;
    return null;
end $$;
create trigger keep_version after insert or update or delete on products
    for each row execute function keep_version();
alter table products enable replica trigger keep_version;
