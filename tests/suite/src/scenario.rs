//! Does a list of source transactions leave the mirror equal? Tried live, one by one, and as a backlog, in groups.

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_sink::options::DestinationConstraints;
use replicant_sink::pipeline::Handle;

use crate::World;
use crate::compare::assert_equal;
use crate::specification::Specification;
use crate::world::DEADLINE;

/// Two schemas, tables, and what happens to them.
pub struct Scenario<'a> {
    source: &'a str,
    destination: &'a str,
    tables: &'a [&'a str],
    constraints: DestinationConstraints,
}

impl<'a> Scenario<'a> {
    /// The same tables on both sides.
    pub fn same(ddl: &'a str, tables: &'a [&'a str]) -> Self {
        Self::new(ddl, ddl, tables)
    }

    /// Tables of the same names that differ.
    pub fn new(source: &'a str, destination: &'a str, tables: &'a [&'a str]) -> Self {
        Self {
            source,
            destination,
            tables,
            constraints: DestinationConstraints::default(),
        }
    }

    /// With the destination's constraints handled like this.
    #[must_use]
    pub fn constraints(mut self, constraints: DestinationConstraints) -> Self {
        self.constraints = constraints;
        self
    }

    /// Each text is one source transaction. Both ways must leave both sides equal.
    ///
    /// # Panics
    /// When they differ.
    pub async fn mirrors(&self, transactions: &[&str]) {
        self.mirrors_declared(transactions, |specification| specification)
            .await;
    }

    /// The same with a changed declaration.
    ///
    /// # Panics
    /// When they differ.
    pub async fn mirrors_declared(
        &self,
        transactions: &[&str],
        declare: impl Fn(Specification) -> Specification,
    ) {
        let live = World::new(self.source, self.destination).await;
        let spec = declare(live.specification(self.tables).await).build();
        let handle = self.start(&live, spec).await;
        for transaction in transactions {
            live.run(transaction).await;
            live.caught_up().await;
        }
        assert_equal(&live, self.tables).await;
        handle.stop().await.unwrap();

        let backlog = World::new(self.source, self.destination).await;
        let spec = declare(backlog.specification(self.tables).await).build();
        self.start(&backlog, spec).await.stop().await.unwrap();
        for transaction in transactions {
            backlog.run(transaction).await;
        }
        let handle = self.start(&backlog, spec).await;
        assert_equal(&backlog, self.tables).await;
        handle.stop().await.unwrap();
    }

    async fn start(&self, world: &World, spec: &'static SinkSpec) -> Handle {
        let pipeline = world.pipeline(spec).await;
        let pipeline = pipeline.destination_constraints(self.constraints);
        let mut handle = pipeline.start().await.unwrap();
        tokio::time::timeout(DEADLINE, handle.ready())
            .await
            .unwrap()
            .unwrap();
        handle
    }
}
