-- Beside the mirror: every version of a product, and every change of one.
create table product_versions (
    version_id bigint generated always as identity primary key,
    product_id bigint not null,
    sku uuid not null,
    name text not null,
    stock integer,
    price numeric(12, 2) not null,
    active boolean not null,
    updated_at timestamptz not null,
    attributes jsonb,
    valid_from_lsn bigint not null,
    valid_to_lsn bigint,
    valid_from timestamptz,
    valid_to timestamptz,
    is_current boolean not null
);
create unique index product_versions_key on product_versions (product_id, valid_from_lsn);
create unique index product_versions_open on product_versions (product_id) where valid_to_lsn is null;

create table product_events (
    event_id bigint generated always as identity primary key,
    source_system_id text not null,
    source_database text not null,
    slot_name text not null,
    commit_lsn bigint not null,
    ordinal bigint not null,
    operation text not null,
    origin text not null,
    snapshot_attempt bytea,
    unchanged text[],
    committed_at timestamptz,
    id bigint,
    sku uuid,
    name text,
    stock integer,
    price numeric(12, 2),
    active boolean,
    updated_at timestamptz,
    attributes jsonb
);
create unique index product_events_key
    on product_events (source_system_id, source_database, slot_name, commit_lsn, ordinal);
