//! The catalog queries. `$1` and `$2` are the schemas and names of the asked tables.

/// Which version is it? Some functions and columns below exist in newer versions only.
pub(super) const VERSION: &str =
    "select pg_catalog.current_setting('server_version_num')::pg_catalog.int4";

macro_rules! server {
    ($may_silence:literal) => {
        concat!(
            "select current_user::pg_catalog.text, pg_catalog.pg_is_in_recovery(), ",
            // What a session starts with, whatever this one has set for itself: a diagnosis works read-only.
            "(select s.reset_val = 'on' from pg_catalog.pg_settings as s ",
            "where s.name = 'default_transaction_read_only'), ",
            $may_silence,
            ", pg_catalog.current_setting('lc_monetary') in ('C', 'POSIX', 'C.UTF-8', 'C.utf8')"
        )
    };
}

/// The session. Before version 15 only a superuser may set `session_replication_role`.
pub(super) const fn server(version: i32) -> &'static str {
    if version >= 150_000 {
        server!("pg_catalog.has_parameter_privilege('session_replication_role', 'SET')")
    } else {
        server!("(select rolsuper from pg_catalog.pg_roles where rolname = current_user)")
    }
}

macro_rules! wanted {
    () => {
        "wanted as materialized (
            select w.position, c.oid, c.relkind
            from rows from (
                pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]))
                with ordinality as w(schema, name, position)
            join pg_catalog.pg_namespace n on n.nspname = w.schema
            join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = w.name
        )"
    };
}

// A table and every partition under it: what hangs on a partition fires for rows written through the root.
macro_rules! members {
    () => {
        concat!(
            wanted!(),
            ", members as (
            select position, oid, true as asked from wanted where relkind in ('r', 'p')
            union all
            select m.position, i.inhrelid, false
            from members m
            join pg_catalog.pg_class c on c.oid = m.oid and c.relkind = 'p'
            join pg_catalog.pg_inherits i on i.inhparent = m.oid
        )"
        )
    };
}

/// One row per asked relation that exists.
pub(super) const TABLES: &str = concat!(
    "with ",
    wanted!(),
    " select w.position, c.relkind::pg_catalog.text,
        c.relkind <> 'p' and exists (
            select from pg_catalog.pg_inherits i where i.inhparent = c.oid),
        pg_catalog.row_security_active(c.oid),
        pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE'),
        pg_catalog.has_table_privilege(c.oid, 'SELECT'),
        pg_catalog.has_table_privilege(c.oid, 'INSERT'),
        pg_catalog.has_table_privilege(c.oid, 'UPDATE'),
        pg_catalog.has_table_privilege(c.oid, 'DELETE')
    from wanted w
    join pg_catalog.pg_class c on c.oid = w.oid
    order by w.position"
);

/// One row per column.
pub(super) const COLUMNS: &str = concat!(
    "with ",
    wanted!(),
    " select w.position, a.attnum, a.attname::pg_catalog.text, a.atttypid, a.atttypmod, a.attnotnull,
        a.attgenerated::pg_catalog.text, a.attidentity::pg_catalog.text, a.atthasdef,
        coalesce(c.collisdeterministic, true)
    from wanted w
    join pg_catalog.pg_attribute a on a.attrelid = w.oid and a.attnum > 0 and not a.attisdropped
    left join pg_catalog.pg_collation c on c.oid = a.attcollation
    order by w.position, a.attnum"
);

/// The types of those columns, as the query of types wants them selected.
pub(super) const TYPES_USED: &str = concat!(
    "(with ",
    wanted!(),
    " select a.atttypid from wanted w
    join pg_catalog.pg_attribute a on a.attrelid = w.oid and a.attnum > 0 and not a.attisdropped)"
);

/// The types that a declared cast makes from text, each with its own input function and that function's arguments, or
/// with its array type where the input function serves many types and so returns none of them. What is `text` under
/// another name needs neither.
pub(super) const INPUTS: &str =
    "select t.oid, n.nspname::pg_catalog.text, p.proname::pg_catalog.text, p.pronargs,
        case when t.typelem <> 0 then t.typelem else t.oid end, p.prorettype = t.oid,
        array_schema.nspname::pg_catalog.text, array_.typname::pg_catalog.text
    from pg_catalog.pg_cast c
    join pg_catalog.pg_type t on t.oid = c.casttarget
    join pg_catalog.pg_proc p on p.oid = t.typinput
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    left join pg_catalog.pg_type array_ on array_.oid = t.typarray and not exists (
        select from pg_catalog.pg_cast a where a.castsource = 25 and a.casttarget = array_.oid)
    left join pg_catalog.pg_namespace array_schema on array_schema.oid = array_.typnamespace
    where c.castsource = 25 and c.castmethod <> 'i' and t.oid not in (1042, 1043)";

/// One row per unique index or exclusion constraint that is not the partition's part of its parent's.
pub(super) const UNIQUE: &str = concat!(
    "with recursive ",
    members!(),
    " select m.position, table_schema.nspname::pg_catalog.text, table_.relname::pg_catalog.text,
        m.asked and i.indisunique and i.indisvalid and method.amname = 'btree' and i.indexprs is null,
        case when con.condeferrable then con.conname::pg_catalog.text end,
        keys.columns, keys.schemas, keys.symbols, keys.deterministic,
        i.indimmediate, pg_catalog.pg_get_expr(i.indpred, i.indrelid),
        index_.relname::pg_catalog.text, con.conname::pg_catalog.text
    from members m
    join pg_catalog.pg_index i on i.indrelid = m.oid and (i.indisunique or i.indisexclusion)
    join pg_catalog.pg_class index_ on index_.oid = i.indexrelid
    join pg_catalog.pg_class table_ on table_.oid = m.oid
    join pg_catalog.pg_namespace table_schema on table_schema.oid = table_.relnamespace
    join pg_catalog.pg_am method on method.oid = index_.relam
    left join pg_catalog.pg_constraint con
        on con.conindid = i.indexrelid and con.conrelid = i.indrelid and con.contype in ('p', 'u', 'x')
    cross join lateral (
        select pg_catalog.array_agg(a.attname::pg_catalog.text order by part) as columns,
            pg_catalog.array_agg(s.nspname::pg_catalog.text order by part) as schemas,
            pg_catalog.array_agg(o.oprname::pg_catalog.text order by part) as symbols,
            pg_catalog.array_agg(coalesce(c.collisdeterministic, true)
                and coalesce(own.collisdeterministic, true) order by part) as deterministic
        from pg_catalog.generate_series(0, i.indnkeyatts - 1) as part
        left join pg_catalog.pg_attribute a
            on a.attrelid = i.indrelid and a.attnum = i.indkey[part] and a.attnum > 0
        left join pg_catalog.pg_opclass k on k.oid = i.indclass[part]
        left join pg_catalog.pg_amop p on p.amopfamily = k.opcfamily and p.amopstrategy = 3
            and p.amoplefttype = k.opcintype and p.amoprighttype = k.opcintype
        left join pg_catalog.pg_operator o on o.oid = p.amopopr
        left join pg_catalog.pg_namespace s on s.oid = o.oprnamespace
        left join pg_catalog.pg_collation c on c.oid = i.indcollation[part]
        left join pg_catalog.pg_collation own on own.oid = a.attcollation
    ) keys
    where not exists (select from pg_catalog.pg_inherits h where h.inhrelid = i.indexrelid)
    order by m.position, i.indisprimary desc, i.indexrelid"
);

/// The names by which an error may tell what of a table it is about, and of unique indexes without expressions the key
/// columns.
pub(super) const CONSTRAINTS: &str = concat!(
    "with recursive ",
    members!(),
    " select m.position, con.conname::pg_catalog.text, null::pg_catalog.text[]
    from members m join pg_catalog.pg_constraint con on con.conrelid = m.oid
    union
    select m.position, index_.relname::pg_catalog.text,
        case when i.indexprs is null then array(
            select a.attname::pg_catalog.text
            from pg_catalog.generate_series(0, i.indnkeyatts - 1) as part
            join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[part]
            order by part) end
    from members m
    join pg_catalog.pg_index i on i.indrelid = m.oid and i.indisunique
    join pg_catalog.pg_class index_ on index_.oid = i.indexrelid
    order by 1, 2, 3"
);

/// One row per user trigger, on the table or on a partition.
pub(super) const TRIGGERS: &str = concat!(
    "with recursive ",
    members!(),
    " select m.position, t.tgname::pg_catalog.text, s.nspname::pg_catalog.text,
        c.relname::pg_catalog.text, t.tgenabled::pg_catalog.text
    from members m
    join pg_catalog.pg_trigger t on t.tgrelid = m.oid and not t.tgisinternal
    join pg_catalog.pg_class c on c.oid = m.oid
    join pg_catalog.pg_namespace s on s.oid = c.relnamespace
    order by m.position, m.asked desc, t.tgname, m.oid"
);

/// One row per rule on an asked table.
pub(super) const RULES: &str = concat!(
    "with ",
    wanted!(),
    " select w.position, r.rulename::pg_catalog.text, r.ev_enabled::pg_catalog.text
    from wanted w
    join pg_catalog.pg_rewrite r on r.ev_class = w.oid
    where w.relkind in ('r', 'p')
    order by w.position, r.rulename"
);

macro_rules! foreign_keys {
    ($enforced:literal) => {
        concat!(
            "with recursive ",
            members!(),
            " select schema_.nspname::pg_catalog.text, con.conname::pg_catalog.text,
                from_schema.nspname::pg_catalog.text, from_.relname::pg_catalog.text, f.position,
                to_schema.nspname::pg_catalog.text, to_.relname::pg_catalog.text, t.position,
                con.condeferrable, con.confdeltype = 'a' and con.confupdtype = 'a',
                con.confmatchtype = 'f',
                array(select a.attname::pg_catalog.text
                    from pg_catalog.unnest(con.conkey) with ordinality as k(attnum, part)
                    join pg_catalog.pg_attribute a on a.attrelid = con.conrelid and a.attnum = k.attnum
                    order by k.part),
                array(select a.attname::pg_catalog.text
                    from pg_catalog.unnest(con.confkey) with ordinality as k(attnum, part)
                    join pg_catalog.pg_attribute a on a.attrelid = con.confrelid and a.attnum = k.attnum
                    order by k.part),
                exists (select from pg_catalog.pg_constraint o
                    where o.conname = con.conname and o.connamespace = con.connamespace
                        and o.oid <> con.oid and not o.condeferrable)
            from pg_catalog.pg_constraint con
            join pg_catalog.pg_namespace schema_ on schema_.oid = con.connamespace
            join pg_catalog.pg_class from_ on from_.oid = con.conrelid
            join pg_catalog.pg_namespace from_schema on from_schema.oid = from_.relnamespace
            join pg_catalog.pg_class to_ on to_.oid = con.confrelid
            join pg_catalog.pg_namespace to_schema on to_schema.oid = to_.relnamespace
            left join members f on f.oid = con.conrelid
            left join members t on t.oid = con.confrelid
            left join pg_catalog.pg_constraint parent on parent.oid = con.conparentid
            where con.contype = 'f' and (f.oid is not null or t.oid is not null)
                and not exists (select from members m
                    where m.oid in (parent.conrelid, parent.confrelid))",
            $enforced,
            " order by 1, 2, 3, 4"
        )
    };
}

/// One row per foreign key from or to an asked table or a partition of one. What a partition has only because its
/// parent has it is the parent's. Version 18 can declare constraints that are not enforced.
pub(super) const fn foreign_keys(version: i32) -> &'static str {
    if version >= 180_000 {
        foreign_keys!(" and con.conenforced")
    } else {
        foreign_keys!("")
    }
}
