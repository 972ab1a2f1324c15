create table product_log (
    event_id bigint generated always as identity primary key,
    operation text not null,
    committed_at timestamptz not null,
    id bigint,
    sku uuid,
    name text,
    stock integer,
    price numeric(12, 2),
    active boolean,
    updated_at timestamptz,
    attributes jsonb
);
create function keep_event() returns trigger language plpgsql as $$
declare
    r public.products := case when tg_op = 'DELETE' then old else new end;
begin
    insert into public.product_log
        (operation, committed_at, id, sku, name, stock, price, active, updated_at, attributes)
    values (pg_catalog.lower(tg_op), pg_catalog.now(), r.id, r.sku, r.name, r.stock, r.price, r.active, r.updated_at,
        r.attributes);
    return null;
end $$;
create trigger keep_event after insert or update or delete on products
    for each row execute function keep_event();
alter table products enable replica trigger keep_event;
