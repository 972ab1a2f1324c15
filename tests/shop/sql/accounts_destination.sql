-- The accounts in the clear, and with their numbers sealed; with the same indexes, so that the two compare.
create table accounts (
    id bigint primary key,
    org_id text not null,
    holder text not null,
    iban text not null,
    balance numeric(12, 2) not null,
    updated_at timestamptz not null
);
create unique index accounts_key on accounts (org_id, id);
create table sealed_accounts (
    id bigint primary key,
    org_id text not null,
    holder text not null,
    encrypted_iban bytea not null,
    balance numeric(12, 2) not null,
    updated_at timestamptz not null
);
create unique index sealed_accounts_key on sealed_accounts (org_id, id);
