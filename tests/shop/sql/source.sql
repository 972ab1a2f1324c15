-- The shop's own database: what the application writes.
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
    customer_id uuid not null references customers (id) on update cascade,
    status text not null,
    total numeric(14, 2) not null,
    placed_at timestamptz not null,
    shipped_at timestamptz,
    details jsonb not null
);
create index orders_customer on orders (customer_id);

create table order_lines (
    order_id uuid not null references orders (id) on update cascade,
    line_no integer not null,
    product_id bigint not null references products (id) on update cascade,
    quantity bigint not null,
    unit_price numeric(12, 2) not null,
    remark text,
    primary key (order_id, line_no)
);
create index order_lines_product on order_lines (product_id);

-- Published and deliberately not mirrored: the sink lists it in `ignored_sources`.
create table audit_events (
    happened_at timestamptz not null,
    what text not null
);

create publication shop for table customers, products, orders, order_lines, audit_events;
