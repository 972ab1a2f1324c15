//! What does the shop's application do all day? Transactions of every shape, from a seed.
//!
//! One [`Traffic`] is one session of the application. Several may run side by side: each owns its customers,
//! products and orders, so they never wait for each other and the same seeds make the same transactions. Not only
//! everyday work is in it: key changes that cascade, unique values that swap owners, rows deleted and created
//! again, savepoints rolled back, values that few types can hold, TOASTed values that an update does not touch.

mod transactions;
mod values;

use fastrand::Rng;
use tokio_postgres::{Client, Error};

use self::values::uuid;

/// One session of the shop's application.
#[derive(Debug)]
pub struct Traffic {
    rng: Rng,
    session: u32,
    customers: Vec<String>,
    products: Vec<i64>,
    orders: Vec<Order>,
    next_product: i64,
    next_email: u64,
}

/// An order that exists.
#[derive(Clone, Debug)]
struct Order {
    id: String,
    /// Its lines' numbers.
    lines: Vec<i32>,
}

/// What one transaction did to the mirrored tables.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Done {
    /// Committed transactions: one, or zero for one that was rolled back on purpose.
    pub transactions: u64,
    /// Rows inserted, updated and deleted by statements of committed transactions. Rows changed by a cascade are
    /// not counted.
    pub changes: u64,
}

/// SQL of one transaction and what follows from its commit.
#[derive(Debug, Default)]
struct Plan {
    sql: String,
    changes: u64,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Outcome {
    #[default]
    Commit,
    Rollback,
}

impl Plan {
    /// Appends a statement that changes `rows` rows.
    fn then(&mut self, rows: u64, statement: &str) {
        self.sql.push_str(statement);
        self.sql.push_str(";\n");
        self.changes += rows;
    }
}

impl Traffic {
    /// The session `session` of a shop with this seed.
    pub fn new(seed: u64, session: u32) -> Self {
        Self {
            rng: Rng::with_seed(
                seed.wrapping_mul(1_000_003)
                    .wrapping_add(u64::from(session)),
            ),
            session,
            customers: Vec::new(),
            products: Vec::new(),
            orders: Vec::new(),
            next_product: i64::from(session) * 1_000_000_000 + 1,
            next_email: 0,
        }
    }

    /// Opens the shop: the first customers and products, one transaction.
    ///
    /// # Errors
    /// When the server refuses.
    ///
    /// # Cancel safety
    /// Not cancel safe: start over with a fresh database.
    pub async fn open(&mut self, client: &Client) -> Result<Done, Error> {
        let mut plan = Plan::default();
        for _ in 0..20 {
            self.new_customer(&mut plan);
            self.new_product(&mut plan);
        }
        run(client, &plan).await
    }

    /// One transaction of the application.
    ///
    /// # Errors
    /// When the server refuses; the session's picture of the database is then wrong.
    ///
    /// # Cancel safety
    /// Not cancel safe: drop the session after a cancellation.
    pub async fn transaction(&mut self, client: &Client) -> Result<Done, Error> {
        let plan = self.plan();
        run(client, &plan).await
    }

    /// Some row of a list that the shop keeps from becoming empty.
    fn customer(&mut self) -> usize {
        self.rng.usize(..self.customers.len().max(1))
    }

    fn fresh_uuid(&mut self) -> String {
        uuid(&mut self.rng)
    }

    fn fresh_email(&mut self) -> String {
        self.next_email += 1;
        format!("c{}.{}@example.org", self.next_email, self.session)
    }
}

async fn run(client: &Client, plan: &Plan) -> Result<Done, Error> {
    let (end, done) = match plan.outcome {
        Outcome::Commit => (
            "commit",
            Done {
                transactions: 1,
                changes: plan.changes,
            },
        ),
        Outcome::Rollback => ("rollback", Done::default()),
    };
    client
        .batch_execute(&format!("begin;\n{}{end};", plan.sql))
        .await?;
    Ok(done)
}
