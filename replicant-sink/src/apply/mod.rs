//! How a plan becomes rows: SQL text, parameters, savepoints and the ladder, inside an open destination transaction.

mod copy;
mod events;
mod fault;
mod filled;
mod filled_sql;
mod flush;
mod memory;
mod parameter;
mod participant;
mod pipeline;
mod reinsert;
mod reseal;
mod rows;
mod sql;
mod stamp;
mod statements;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use replicant_transport::ident::QualifiedName;
use tokio_postgres::Client;

pub use fault::Failure;
pub(crate) use fault::{across_tenants_at_commit, at_commit};
pub(crate) use participant::{Written, find, write};
pub use replicant_checkpoint::store::Fault;
pub(crate) use statements::Statements;

use crate::admission::LateTenants;
use crate::generation::{Constraints, Generation, Held};
use crate::hooked::barrier::{self, Cut};
use crate::plan::{
    Batch, Completeness, Emptied, Emptying, Folded, Operation, Piece, Plan, Planned, Resolver,
    Step, Tenants, Work, in_source_order, plan,
};
use crate::tenant::Tenant;
use flush::{Flush, Tally, next_rung};
use memory::Memory;

/// What one call applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Source inserts.
    pub inserts: u64,
    /// Source updates.
    pub updates: u64,
    /// Source deletes.
    pub deletes: u64,
    /// Destination tables emptied by source truncates.
    pub truncates: u64,
    /// Changes of sources that are deliberately ignored.
    pub ignored: u64,
    /// Destination rows written or removed.
    pub rows_affected: u64,
    /// Deletes whose row was not there.
    pub absent_deletes: u64,
    /// Updates whose row was not there and was inserted whole.
    pub absent_updates: u64,
    /// Events that a log had already; only a lost checkpoint makes any.
    pub repeated_events: u64,
    /// The highest rung of the ladder that any flush needed.
    pub rung: Rung,
}

impl Applied {
    /// Adds what another call applied.
    pub(crate) fn add(&mut self, other: &Self) {
        self.inserts += other.inserts;
        self.updates += other.updates;
        self.deletes += other.deletes;
        self.truncates += other.truncates;
        self.ignored += other.ignored;
        self.rows_affected += other.rows_affected;
        self.absent_deletes += other.absent_deletes;
        self.absent_updates += other.absent_updates;
        self.repeated_events += other.repeated_events;
        self.rung = self.rung.max(other.rung);
    }

    /// Source changes that were applied.
    pub(crate) fn changes(&self) -> u64 {
        self.inserts + self.updates + self.deletes + self.truncates
    }
}

/// Which way of writing a flush needed, from the fastest to the last resort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub enum Rung {
    /// Set-based: deletes, updates, plain inserts.
    #[default]
    Sets,
    /// Set-based, inserts replace the row of the same key.
    Upserts,
    /// One statement per source change, in source order.
    Rows,
    /// Touched keys deleted, final images inserted.
    Reinsert,
}

impl Rung {
    /// Stable name, the label of the metric.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sets => "sets",
            Self::Upserts => "upserts",
            Self::Rows => "rows",
            Self::Reinsert => "reinsert",
        }
    }
}

/// Applies pieces on one destination connection.
pub struct Applier {
    resolver: Resolver,
    completeness: Arc<[Completeness]>,
    statements: Statements,
    /// Where the ladder starts, per table.
    memory: Vec<Memory>,
    /// Run at the start of each destination transaction.
    opening: Option<String>,
    /// Admits the tables of tenants that were not there before.
    late: Option<Arc<LateTenants>>,
    /// Tables whose own constraints this destination transaction has deferred already.
    deferred: HashSet<usize>,
    /// Tables of tenants that this destination transaction has looked for already, so that hooks may look at them.
    looked_for: HashSet<(usize, Tenant)>,
}

/// What it runs at the start of a transaction names schemas of tenants.
impl fmt::Debug for Applier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Applier")
            .field("resolver", &self.resolver)
            .finish_non_exhaustive()
    }
}

impl Applier {
    /// For one destination connection; it keeps statements prepared on that connection.
    ///
    /// `completeness` has one entry per table of the generation, in its order.
    pub fn new(generation: Arc<Generation>, completeness: Arc<[Completeness]>) -> Self {
        let opening = opening(&generation.constraints);
        Self {
            memory: vec![Memory::default(); generation.tables.len()],
            resolver: Resolver::new(generation),
            completeness,
            statements: Statements::default(),
            opening,
            late: None,
            deferred: HashSet::new(),
            looked_for: HashSet::new(),
        }
    }

    /// The same, for tables of tenants that have schemas of their own: one is admitted when its first row comes.
    #[must_use]
    pub fn admitting(self, late: Option<Arc<LateTenants>>) -> Self {
        Self { late, ..self }
    }

    /// The tables it writes, with those of tenants that came meanwhile.
    pub(crate) fn generation(&self) -> &Arc<Generation> {
        self.resolver.generation()
    }

    /// Once per destination transaction, right after it was opened: defers the named constraints, or takes the
    /// replica role until the transaction ends. What was sealed before and what is now have no data key in common.
    ///
    /// # Errors
    /// The destination refused, or the connection is gone.
    ///
    /// # Cancel safety
    /// Not cancel safe: a dropped call leaves the transaction in an unknown state; roll it back.
    pub async fn open(&mut self, client: &Client) -> Result<(), Failure> {
        self.deferred.clear();
        self.looked_for.clear();
        self.generation().groups.begin();
        self.run_opening(client).await
    }

    async fn run_opening(&self, client: &Client) -> Result<(), Failure> {
        if let Some(opening) = &self.opening {
            let done = client.batch_execute(opening).await;
            done.map_err(|error| Failure::of(&error, None))?;
        }
        Ok(())
    }

    /// Applies the pieces in order, running the database hooks of their changes. Nothing is committed here.
    ///
    /// # Errors
    /// [`Failure::Database`] when a statement failed for good, [`Failure::Stop`] when going on would be a guess:
    /// `source_table_unmapped`, `truncate_halt`, `change_unsupported`, `row_key_missing`, `row_incomplete`,
    /// `destination_diverged`, `destination_unique_conflict`, `schema_change_destructive`,
    /// `source_column_unmapped`, `tenant_required`, `tenant_resolution_failed`, `tenant_scope_unknown`, `tenant_conflict`,
    /// and what hooks stop for. The transaction must be rolled back.
    ///
    /// # Cancel safety
    /// Not cancel safe: a dropped call leaves the transaction in an unknown state; roll it back.
    pub async fn apply(&mut self, client: &Client, pieces: &[Piece]) -> Result<Applied, Failure> {
        let barriers = barrier::barriers(&mut self.resolver, pieces);
        if barriers.is_empty() {
            return self.part(client, pieces).await;
        }
        let mut applied = Applied::default();
        let mut cut = Cut::new(pieces);
        for barrier in &barriers {
            applied.add(&self.part(client, &cut.until(barrier)).await?);
            if let Some(at) = cut.at(barrier) {
                let told = [Piece::of(at)];
                let mut tenants = Tenants::of(&mut self.resolver, &told)?;
                if self.late.is_some() {
                    let generation = self.resolver.generation();
                    let owners = barrier::owners(generation, barrier, at.1)?;
                    let tables = barrier::tables_read(generation, barrier);
                    tenants.note_looked_at(generation, &tables, &owners, &mut self.looked_for);
                }
                self.admit_unseen(client, &tenants).await?;
                let generation = Arc::clone(self.resolver.generation());
                let statements = &mut self.statements;
                let change = barrier::run(client, statements, &generation, barrier, at).await?;
                cut.begin_with(change);
            }
        }
        applied.add(&self.part(client, &cut.rest()).await?);
        Ok(applied)
    }

    /// Plans source transactions before their turn, as far as they can be.
    pub(crate) fn plan_ahead(&mut self, pieces: Vec<Piece>) -> Planned {
        Planned::ahead(&mut self.resolver, pieces)
    }

    /// The same as [`Applier::apply`], by the plan that was made already, if there is one for the tables as they are.
    ///
    /// # Errors
    /// As [`Applier::apply`].
    ///
    /// # Cancel safety
    /// As [`Applier::apply`].
    pub(crate) async fn apply_planned(
        &mut self,
        client: &Client,
        planned: &Planned,
    ) -> Result<Applied, Failure> {
        let pieces = planned.pieces();
        match planned.plan_for(self.resolver.generation()) {
            Some((plan, tenants)) => self.carry_out(client, (pieces, tenants), plan).await,
            None => self.apply(client, pieces).await,
        }
    }

    /// Applies what lies between two barriers.
    async fn part(&mut self, client: &Client, pieces: &[Piece]) -> Result<Applied, Failure> {
        let tenants = Tenants::of(&mut self.resolver, pieces)?;
        self.admit_unseen(client, &tenants).await?;
        let planned = plan(&mut self.resolver, pieces, &tenants)?;
        self.carry_out(client, (pieces, &tenants), &planned).await
    }

    async fn carry_out(
        &mut self,
        client: &Client,
        changes: (&[Piece], &Tenants),
        planned: &Plan<'_>,
    ) -> Result<Applied, Failure> {
        let generation = Arc::clone(self.resolver.generation());
        self.defer(client, &generation, &planned.steps).await?;
        let mut applied = Applied {
            inserts: planned.counts.inserts,
            updates: planned.counts.updates,
            deletes: planned.counts.deletes,
            truncates: planned.counts.truncates,
            ignored: planned.counts.ignored,
            ..Applied::default()
        };
        for step in &planned.steps {
            match step {
                Step::Truncate(tables) => {
                    empty(client, &generation, tables, &mut applied).await?;
                }
                Step::Tables(work) => {
                    for work in work {
                        self.work(client, &generation, changes, work, &mut applied)
                            .await?;
                    }
                }
            }
        }
        Ok(applied)
    }

    /// Admits the tables of tenants whose first row comes now, those that a hook may look at, and all that there are when
    /// they are to be emptied.
    /// Only catalogs are read, and nothing of these pieces is written yet.
    async fn admit_unseen(&mut self, client: &Client, tenants: &Tenants) -> Result<(), Failure> {
        let Some(late) = &self.late else {
            return Ok(());
        };
        if tenants.are_admitted() {
            return Ok(());
        }
        let known = self.resolver.generation();
        let Some(extended) = late.admit(client, known, tenants).await? else {
            return Ok(());
        };
        let extended = Arc::new(extended);
        self.memory.resize(extended.tables.len(), Memory::default());
        let opening = opening(&extended.constraints);
        self.resolver.extend(extended);
        if self.opening != opening {
            self.opening = opening;
            self.run_opening(client).await?;
        }
        Ok(())
    }

    /// Defers the constraints of the tenants' tables that are about to be written: there may be thousands of them.
    async fn defer(
        &mut self,
        client: &Client,
        generation: &Generation,
        steps: &[Step<'_>],
    ) -> Result<(), Failure> {
        if generation.constraints == Constraints::Trusted || generation.by_tenant.is_empty() {
            return Ok(());
        }
        let written = steps.iter().flat_map(|step| match step {
            Step::Tables(work) => work.iter().map(|work| work.table).collect::<Vec<_>>(),
            Step::Truncate(emptied) => emptied.iter().map(|emptied| emptied.table).collect(),
        });
        let mut names: Vec<&QualifiedName> = Vec::new();
        for table in written {
            if self.deferred.insert(table)
                && let Some(table) = generation.tables.get(table)
            {
                names.extend(&table.deferred);
            }
        }
        if let Some(statement) = set_deferred(names.into_iter()) {
            let done = client.batch_execute(&statement).await;
            done.map_err(|error| Failure::of(&error, None))?;
        }
        Ok(())
    }

    async fn work(
        &mut self,
        client: &Client,
        generation: &Generation,
        changes: (&[Piece], &Tenants),
        work: &Work<'_>,
        applied: &mut Applied,
    ) -> Result<(), Failure> {
        let Some(table) = generation.tables.get(work.table) else {
            return Ok(());
        };
        let flush = Flush {
            client,
            index: work.table,
            table,
            // What is not known to be complete may lack rows.
            completeness: self
                .completeness
                .get(work.table)
                .copied()
                .unwrap_or(Completeness::Open),
        };
        for batch in &work.batches {
            let (tally, rung) = match batch {
                Batch::Folded { folded, operations } => {
                    self.climb(&flush, changes, folded, operations).await?
                }
                Batch::Versions(versions) => {
                    let Held::History(history) = &table.held else {
                        return Err(Failure::internal(&table.shown));
                    };
                    let memory = self.memory.get_mut(work.table);
                    flush
                        .climb_versions(&mut self.statements, memory, history, versions)
                        .await?
                }
                Batch::Recorded(versions) => {
                    flush
                        .require_recorded(&mut self.statements, versions)
                        .await?;
                    continue;
                }
                Batch::Events(events) => {
                    let Held::AppendLog(log) = &table.held else {
                        return Err(Failure::internal(&table.shown));
                    };
                    let memory = self.memory.get_mut(work.table);
                    flush
                        .append(&mut self.statements, memory, log, events)
                        .await?
                }
                Batch::Rows(rows) => {
                    let written = flush
                        .in_order(&mut self.statements, std::slice::from_ref(rows))
                        .await;
                    (written?, Rung::Rows)
                }
            };
            tally.add_to(applied);
            applied.rung = applied.rung.max(rung);
        }
        Ok(())
    }

    /// Writes net effects, trying another way after each conflict.
    async fn climb(
        &mut self,
        flush: &Flush<'_>,
        changes: (&[Piece], &Tenants),
        folded: &Folded<'_>,
        operations: &[Operation],
    ) -> Result<(Tally, Rung), Failure> {
        let statements = &mut self.statements;
        let mut memory = self.memory.get_mut(flush.index);
        let mut rung = memory.as_ref().map_or(Rung::Sets, |memory| memory.start());
        loop {
            let written = match rung {
                Rung::Sets | Rung::Upserts => {
                    flush.sets(statements, folded, operations, rung).await
                }
                Rung::Rows => {
                    let resolver = &mut self.resolver;
                    let batches = in_source_order(resolver, changes, flush.index, folded.span)?;
                    flush.in_order(statements, &batches).await
                }
                Rung::Reinsert => flush.reinsert(statements, folded, operations).await,
            };
            match written {
                Ok(tally) => {
                    if let Some(memory) = &mut memory {
                        memory.written(rung);
                    }
                    return Ok((tally, rung));
                }
                Err(failure) if failure.is_conflict() => {
                    flush.roll_back().await?;
                    rung =
                        next_rung(rung, flush.table, &folded.mapping, operations).ok_or(failure)?;
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}

/// Lets tables follow a TRUNCATE: rows go by DELETE, so that foreign keys and triggers see what they would see of rows.
async fn empty(
    client: &Client,
    generation: &Generation,
    emptied: &[Emptied],
    applied: &mut Applied,
) -> Result<(), Failure> {
    for emptied in emptied {
        let Some(table) = generation.tables.get(emptied.table) else {
            continue;
        };
        let count = match (emptied.how, &table.held) {
            (Emptying::Close(at), Held::History(history)) => {
                versions::close_every(client, table, history, at).await?
            }
            _ => client
                .execute_typed(&sql::empty(table), &[])
                .await
                .map_err(|error| Failure::of(&error, Some(table)))?,
        };
        applied.rows_affected += count;
    }
    Ok(())
}

/// What to run at the start of a transaction.
fn opening(constraints: &Constraints) -> Option<String> {
    match constraints {
        Constraints::Trusted => Some("set local session_replication_role = replica".to_owned()),
        Constraints::Deferred {
            foreign_keys,
            unique,
        } => set_deferred(foreign_keys.iter().chain(unique)),
    }
}

fn set_deferred<'n>(names: impl Iterator<Item = &'n QualifiedName>) -> Option<String> {
    let quoted: Vec<String> = names.map(|name| name.quoted().to_string()).collect();
    (!quoted.is_empty()).then(|| format!("set constraints {} deferred", quoted.join(", ")))
}
