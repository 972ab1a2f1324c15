//! What is replicated in a benchmark? Each workload: rows that exist before, then a backlog that is measured.
//!
//! Everything is computed from row numbers, so that source and destination can be given the same rows by running the
//! same statements. Values are as wide as a usual row: eight columns, about 200 bytes.

use std::fmt::Write;

use super::kept::Keeps;
use crate::shop_process::Constraints;

/// One workload at one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    kind: Kind,
    /// Rows of a bulk workload, transactions of the others.
    count: u32,
    pub(crate) constraints: Constraints,
    /// What the destination makes of it.
    pub(crate) keeps: Keeps,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    InsertBulk,
    UpdateBulk,
    SmallTransactions,
    Mixed,
    Updates,
    Accounts,
}

/// Products that are updated over and over.
const UPDATED_PRODUCTS: u32 = 20_000;
/// Accounts that one transaction opens, and as many that it changes.
const ACCOUNTS: u32 = 10;
/// Changes of one of those transactions.
const UPDATES: u32 = 5;
/// Changes of one transaction of the mixed workload.
const MIXED_CHANGES: u32 = 10;
const MIXED_CUSTOMERS: u32 = 2_000;
const MIXED_PRODUCTS: u32 = 5_000;

/// The key of the product whose arrival ends the clock.
pub(crate) const MARKER: i64 = -1;

/// All workloads; `quick` ones are a quarter of the size.
pub(crate) fn all(size: Size) -> Vec<Workload> {
    let scale = match size {
        Size::Full => 1,
        Size::Quick => 4,
    };
    let of = |name, kind, count: u32, constraints| Workload {
        name,
        kind,
        count: count / scale,
        constraints,
        keeps: Keeps::Current,
    };
    let kept = |name, kind, keeps| Workload {
        keeps,
        ..of(name, kind, 100_000, Constraints::Deferred)
    };
    vec![
        of(
            "insert_bulk",
            Kind::InsertBulk,
            200_000,
            Constraints::Deferred,
        ),
        of(
            "update_bulk",
            Kind::UpdateBulk,
            200_000,
            Constraints::Deferred,
        ),
        of(
            "small_tx",
            Kind::SmallTransactions,
            100_000,
            Constraints::Deferred,
        ),
        of("mixed", Kind::Mixed, 50_000, Constraints::Trusted),
        of("mixed_deferred", Kind::Mixed, 50_000, Constraints::Deferred),
        kept("scd2_update", Kind::Updates, Keeps::Versions),
        kept("append_log", Kind::Updates, Keeps::Events),
        kept("tenant_sealed", Kind::Accounts, Keeps::Sealed),
    ]
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Full,
    Quick,
}

impl Workload {
    /// Row changes in the backlog.
    pub(crate) fn rows(&self) -> u32 {
        match self.kind {
            Kind::Mixed => self.count * MIXED_CHANGES,
            Kind::InsertBulk
            | Kind::UpdateBulk
            | Kind::SmallTransactions
            | Kind::Updates
            | Kind::Accounts => self.count,
        }
    }

    /// Rows that both sides hold before the clock starts.
    pub(crate) fn base(&self) -> String {
        match self.kind {
            Kind::InsertBulk | Kind::SmallTransactions | Kind::Accounts => String::new(),
            Kind::UpdateBulk => format!("{};", products(1, self.count)),
            Kind::Updates => format!("{};", products(1, UPDATED_PRODUCTS)),
            Kind::Mixed => {
                let mut sql = format!("{};\n", products(1, MIXED_PRODUCTS));
                let _ = write!(
                    sql,
                    "insert into customers select md5('c' || i)::uuid, 'c' || i || '@example.org', 'customer ' || i, \
                     i, jsonb_build_object('n', i), timestamptz '2024-01-01' + i * interval '1 second', null \
                     from generate_series(1, {MIXED_CUSTOMERS}) i;"
                );
                sql
            }
        }
    }

    /// What is measured. The session has `synchronous_commit = off`, which only makes it quicker to write.
    pub(crate) fn backlog(&self) -> String {
        let count = self.count;
        match self.kind {
            Kind::InsertBulk => format!("{};", products(1, count)),
            Kind::UpdateBulk => {
                "update products set stock = stock + 1, price = price + 1, updated_at = updated_at + interval '1 day';"
                    .to_owned()
            }
            Kind::SmallTransactions => format!(
                "do $$ begin for n in 1..{count} loop {}; commit; end loop; end $$;",
                product("n")
            ),
            Kind::Updates => format!(
                "do $$ begin for n in 0..{} loop \
                 update products set stock = stock + 1, price = price + 1 \
                 where id between 1 + n * {UPDATES} % {UPDATED_PRODUCTS} and {UPDATES} + n * {UPDATES} % {UPDATED_PRODUCTS}; \
                 commit; end loop; end $$;",
                count / UPDATES - 1
            ),
            Kind::Accounts => format!(
                "do $$ begin for n in 0..{} loop \
                 insert into accounts select {} from generate_series(1 + n * {ACCOUNTS}, {ACCOUNTS} + n * {ACCOUNTS}) i; \
                 update accounts set balance = balance + 1 \
                 where id between 1 + n / 2 * {ACCOUNTS} and {ACCOUNTS} + n / 2 * {ACCOUNTS}; \
                 commit; end loop; end $$;",
                count / (2 * ACCOUNTS) - 1,
                account_columns("i")
            ),
            Kind::Mixed => format!(
                "do $$ declare o uuid; begin for n in 1..{count} loop \
                 o := md5('o' || n)::uuid; \
                 insert into orders values (o, md5('c' || 1 + n % {MIXED_CUSTOMERS})::uuid, 'placed', n, \
                 timestamptz '2024-01-01' + n * interval '1 second', null, jsonb_build_object('n', n)); \
                 insert into order_lines select o, l, 1 + (n * 7 + l * 13) % {MIXED_PRODUCTS}, l, n % 1000, 'line ' || l \
                 from generate_series(1, 5) l; \
                 update products set stock = stock - 1 where id = 1 + n % {MIXED_PRODUCTS}; \
                 update products set price = price + 1 where id = 1 + (n * 3 + 1) % {MIXED_PRODUCTS}; \
                 update customers set credit = credit - 1 where id = md5('c' || 1 + n % {MIXED_CUSTOMERS})::uuid; \
                 update orders set status = 'paid' where id = o; \
                 commit; end loop; end $$;"
            ),
        }
    }

    /// One more transaction, whose arrival says that everything before it has arrived.
    pub(crate) fn marker(&self) -> String {
        match self.kind {
            Kind::Accounts => format!(
                "insert into accounts select {} from (values ({MARKER})) v(i);",
                account_columns("i")
            ),
            _ => format!("{};", product(&format!("({MARKER})"))),
        }
    }
}

fn products(first: u32, last: u32) -> String {
    format!(
        "insert into products select {} from generate_series({first}, {last}) n",
        product_columns("n")
    )
}

/// Inserts the product of this number.
pub(crate) fn product(n: &str) -> String {
    format!("insert into products select {}", product_columns(n))
}

fn product_columns(n: &str) -> String {
    format!(
        "{n}, md5('p' || {n})::uuid, 'product number ' || {n}, abs({n}) % 1000, (abs({n}) % 9000) + 0.99, \
         {n} % 2 = 0, timestamptz '2024-01-01' + {n} * interval '1 second', \
         jsonb_build_object('colour', 'blue', 'weight', {n}, 'tags', jsonb_build_array('a', 'b'))"
    )
}

fn account_columns(i: &str) -> String {
    format!(
        "{i}, 'organisation ' || abs({i}) % 50, 'holder number ' || {i}, 'DE' || lpad(abs({i})::text, 20, '0'), {i}, \
         timestamptz '2024-01-01' + {i} * interval '1 second'"
    )
}
