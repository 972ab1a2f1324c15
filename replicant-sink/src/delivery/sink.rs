//! The mirror as the transport sees it: admission at every connect, then a queue in front of the delivery task.

use std::sync::Arc;

use replicant_checkpoint::contract::manifest::Manifest;
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_checkpoint::store::{Binding, Bound, Completeness, Key, LeaseLock, Standing, Store};
use replicant_transport::ack::{CommitProof, Durable, IdlePoint, Receipt};
use replicant_transport::change::Change;
use replicant_transport::connect::ConnectOptions;
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::EndLsn;
use replicant_transport::sink::{Begin, Feedback, Membership, RelationSeen, Resume, Sink};
use replicant_transport::source::{Session, Slot};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::destination::Destination;
use super::failpoint::{Step, pass};
use super::heartbeat::Lead;
use super::progress::Progress;
use super::queue::{GroupLimits, Queue};
use super::relation;
use super::task::{Admitted, Delivery};
use crate::admission::{self, LateTenants, Values};
use crate::error::Error;
use crate::generation::{Generation, Notice};
use crate::hooked::Stage;
use crate::hooks::Code;
use crate::options::DestinationConstraints;
use crate::reason::Reason;
use crate::seal::Vault;
use crate::telemetry::Telemetry;

/// What a mirror is made from.
#[derive(Clone)]
pub(crate) struct MirrorOptions {
    pub(crate) spec: &'static SinkSpec,
    /// The functions it names.
    pub(crate) code: &'static [&'static [&'static Code]],
    pub(crate) destination: ConnectOptions,
    pub(crate) vault: Option<Arc<dyn Vault>>,
    pub(crate) constraints: DestinationConstraints,
    pub(crate) owner: String,
    pub(crate) limits: GroupLimits,
}

/// The sink of a current-state mirror.
pub(crate) struct Mirror {
    options: MirrorOptions,
    store: Store,
    telemetry: Telemetry,
    progress: watch::Sender<Progress>,
    /// The lease to renew.
    lead: watch::Sender<Option<Lead>>,
    /// Who has the lock of the lease.
    lock: watch::Receiver<LeaseLock>,
    /// In which form the next session asks for values.
    values: Values,
    state: State,
}

/// How far one session has come.
enum State {
    /// No session.
    Idle,
    /// Admitted and bound; the slot is not known yet.
    Bound(Box<AwaitingSlot>),
    /// The delivery task runs.
    Delivering {
        generation: Arc<Generation>,
        queue: Arc<Queue>,
        task: JoinHandle<()>,
    },
}

/// What `bind` leaves for `origin`.
struct AwaitingSlot {
    destination: Destination,
    bound: Bound,
    generation: Generation,
    late: Option<Arc<LateTenants>>,
    feedback: Feedback<Error>,
}

impl Mirror {
    pub(crate) fn new(
        options: MirrorOptions,
        slot: &replicant_transport::ident::SlotName,
        progress: watch::Sender<Progress>,
        lead: watch::Sender<Option<Lead>>,
        lock: watch::Receiver<LeaseLock>,
    ) -> Result<Self, Error> {
        let store = Store::new(&options.spec.checkpoint)?;
        Ok(Self {
            options,
            store,
            telemetry: Telemetry::new(slot),
            progress,
            lead,
            lock,
            values: Values::default(),
            state: State::Idle,
        })
    }

    /// Waits for the delivery task of an earlier session; what it had not taken will come again.
    async fn end_session(&mut self) -> Result<(), Error> {
        if let State::Delivering { queue, task, .. } =
            std::mem::replace(&mut self.state, State::Idle)
        {
            queue.abandon();
            task.await
                .map_err(|_| Error::from(Reason::DeliveryInterrupted))?;
        }
        Ok(())
    }

    /// What this process has to show when it binds.
    fn standing(&self) -> Standing {
        match (&*self.lead.borrow(), *self.lock.borrow()) {
            (Some(_), _) => Standing::Owner,
            (None, LeaseLock::Ours) => Standing::LockHolder,
            (None, LeaseLock::Elsewhere | LeaseLock::Free) => Standing::Applicant,
        }
    }

    fn queue(&self) -> Result<(&Arc<Queue>, &Arc<Generation>), Error> {
        match &self.state {
            State::Delivering {
                queue, generation, ..
            } => Ok((queue, generation)),
            State::Idle | State::Bound(_) => Err(Reason::DeliveryInterrupted.into()),
        }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        // The task ends by itself once its queue is closed; a COMMIT that is under way is finished first.
        if let State::Delivering { queue, .. } = &self.state {
            queue.abandon();
        }
    }
}

impl Sink for Mirror {
    type Error = Error;

    async fn bind(
        &mut self,
        session: &Session,
        feedback: Feedback<Error>,
    ) -> Result<Resume, Error> {
        self.end_session().await?;
        let mut destination =
            Destination::new(self.options.destination.clone(), self.store.warnings());
        let client = destination.session().await?.client_mut();
        let request = admission::Request {
            spec: self.options.spec,
            constraints: self.options.constraints,
            values: self.values,
            code: self.options.code,
        };
        let mut generation = admission::admit(&request, session, client)
            .await
            .map_err(admission::Refused::into_first)?;
        if generation.seals() {
            let vault = self.options.vault.as_ref().ok_or(Reason::VaultMissing)?;
            generation.unlock(&vault.keys().await?)?;
        }
        self.store.migrate(client).await?;
        let publications: Vec<&str> = session
            .publications
            .iter()
            .map(|publication| publication.name.as_str())
            .collect();
        let manifest = Manifest::new(self.options.spec, &publications);
        // Of tables in the schemas of tenants the declared name is claimed.
        let targets: Vec<_> = generation
            .written()
            .filter(|table| !table.is_of_one_tenant())
            .map(|table| table.shown.clone())
            .collect();
        let key = Key {
            source: session.identity.source(),
            slot: session.slot.clone(),
        };
        let binding = Binding {
            key: &key,
            timeline: session.identity.timeline,
            wal_end: session.identity.wal_end,
            manifest: &manifest,
            targets: &targets,
            owner: &self.options.owner,
            standing: self.standing(),
        };
        let renewed = Instant::now();
        let bound = self.store.bind(client, &binding).await?;
        self.lead.send_replace(Some(Lead {
            bound: bound.clone(),
            renewed,
            feedback: feedback.clone(),
            notices: generation.notices.iter().map(Notice::code).collect(),
        }));
        pass(Step::Bound);
        self.telemetry.admitted(generation.tables.len());
        for notice in &generation.notices {
            self.telemetry.noticed(notice);
        }
        let resume = Resume {
            watermark: bound.watermark(),
            acked_end: bound.acked_end(),
            format: generation.format,
        };
        let late = generation.has_schemas_of_tenants().then(|| {
            let MirrorOptions {
                spec,
                code,
                constraints,
                ..
            } = self.options;
            Arc::new(LateTenants::new(spec, code, constraints, session.clone()))
        });
        self.state = State::Bound(Box::new(AwaitingSlot {
            destination,
            bound,
            generation,
            late,
            feedback,
        }));
        Ok(resume)
    }

    fn membership(&self, table: &QualifiedName) -> Membership {
        let ignored = match &self.state {
            State::Bound(waiting) => waiting.generation.ignored.contains(table),
            State::Delivering { generation, .. } => generation.ignored.contains(table),
            State::Idle => false,
        };
        if ignored {
            Membership::Optional
        } else {
            Membership::Required
        }
    }

    async fn origin(&mut self, slot: &Slot) -> Result<EndLsn, Error> {
        let State::Bound(waiting) = std::mem::replace(&mut self.state, State::Idle) else {
            return Err(Reason::DeliveryInterrupted.into());
        };
        let AwaitingSlot {
            mut destination,
            bound,
            mut generation,
            late,
            feedback,
        } = *waiting;
        let client = destination.session().await?.client_mut();
        let mapped = generation.mapped();
        let committed = self.store.origin(client, &bound, slot, &mapped).await?;
        let recorded = self.store.completeness(client, &bound).await?;
        generation.remember(&self.store.former_names(client, &bound).await?);
        generation.leave_out(&self.store.recorded_until(client, &bound).await?);
        let generation = Arc::new(generation);
        let completeness = generation
            .tables
            .iter()
            // A tenant's schema may come and go without the source knowing.
            .map(|table| match table.is_of_one_tenant() {
                true => Completeness::Open,
                false => {
                    let recorded = recorded.get(&table.source);
                    recorded.copied().unwrap_or(Completeness::Open)
                }
            })
            .collect();
        pass(Step::Originated);
        let start = committed.acked_end();
        let stage = Stage::new(Arc::clone(&generation), bound.watermark());
        let queue = Arc::new(Queue::new(self.options.limits));
        let delivery = Delivery {
            destination,
            store: self.store.clone(),
            bound,
            mirror: Admitted {
                generation: Arc::clone(&generation),
                completeness,
                late,
            },
            stage,
            queue: Arc::clone(&queue),
            feedback,
            telemetry: self.telemetry.clone(),
            progress: self.progress.clone(),
            ahead: None,
        };
        let task = tokio::spawn(delivery.run());
        self.state = State::Delivering {
            generation,
            queue,
            task,
        };
        Ok(start)
    }

    async fn relation(&mut self, seen: RelationSeen) -> Result<(), Error> {
        let (_, generation) = self.queue()?;
        match relation::judge(generation, &seen) {
            Ok(()) => Ok(()),
            Err(error) => {
                // What came before the change of shape must take effect, or every start would stop here again
                // without progress.
                self.drain().await?;
                if error.code() == Reason::SourceTypesMixed.code() {
                    self.values = Values::Text;
                }
                Err(error)
            }
        }
    }

    async fn begin(&mut self, begin: Begin) -> Result<(), Error> {
        self.queue()?.0.begin(begin).await
    }

    async fn changes(&mut self, batch: Vec<Change>) -> Result<(), Error> {
        self.queue()?.0.changes(batch).await
    }

    async fn commit(&mut self, receipt: Receipt) -> Result<(), Error> {
        self.queue()?.0.commit(receipt)
    }

    async fn abort(&mut self) -> Result<(), Error> {
        self.queue()?.0.abort()
    }

    fn lull(&mut self) {
        if let State::Delivering { queue, .. } = &self.state {
            queue.lull();
        }
    }

    async fn settle(&mut self, idle: IdlePoint) -> Result<Option<Durable>, Error> {
        let (queue, _) = self.queue()?;
        match queue.idle(idle)?.await {
            Ok(outcome) => outcome,
            Err(_) => Err(queue
                .failure()
                .unwrap_or_else(|| Reason::DeliveryInterrupted.into())),
        }
    }

    async fn drain(&mut self) -> Result<(), Error> {
        match &self.state {
            State::Delivering { queue, .. } => {
                queue.abort()?;
                queue.hurry();
                queue.quiet().await
            }
            State::Idle | State::Bound(_) => Ok(()),
        }
    }
}
