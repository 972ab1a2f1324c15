-- Accounts of organisations, in a publication of their own.
create table accounts (
    id bigint primary key,
    org_id text not null,
    holder text not null,
    iban text not null,
    balance numeric(12, 2) not null,
    updated_at timestamptz not null
);
alter table accounts replica identity full;
create publication accounts for table accounts;
