-- The mirror. Foreign keys are deferrable, because one delivery applies many source transactions set by set and
-- the order in which parents and children arrive is the source's, not ours.
create table customers (
    id uuid primary key,
    email text not null unique,
    name text not null,
    credit numeric not null,
    preferences jsonb not null,
    created_at timestamptz not null,
    note text
);

create table products (
    id bigint primary key,
    sku uuid not null unique,
    name text not null,
    stock integer,
    price numeric(12, 2) not null,
    active boolean not null,
    updated_at timestamptz not null,
    attributes jsonb
);

create table orders (
    id uuid primary key,
    customer_id uuid not null,
    status text not null,
    total numeric(14, 2) not null,
    placed_at timestamptz not null,
    shipped_at timestamptz,
    details jsonb not null,
    constraint orders_customer_fkey foreign key (customer_id) references customers (id) deferrable
);
create index orders_customer on orders (customer_id);

create table order_lines (
    order_id uuid not null,
    line_no integer not null,
    product_id bigint not null,
    quantity bigint not null,
    unit_price numeric(12, 2) not null,
    remark text,
    primary key (order_id, line_no),
    constraint order_lines_order_fkey foreign key (order_id) references orders (id) deferrable,
    constraint order_lines_product_fkey foreign key (product_id) references products (id) deferrable
);
create index order_lines_product on order_lines (product_id);
