//! Is everything in order? The checks of a start, the checkpoint and the owner.

use replicant_checkpoint::contract::manifest::Manifest;
use replicant_checkpoint::store::{Completeness, LeaseLock, Outcome, Shown, Store};
use replicant_transport::ident::{QualifiedName, SlotName};
use tokio_postgres::Client;

use super::preflight::{Asked, ask, slot_checks};
use super::report::{Check, Report};
use super::{checkpoint, contract, owner, slot};
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::reason::Reason;

/// Runs every check and reports all of them, whatever fails.
///
/// # Cancel safety
/// Cancel safe: nothing is created or written.
pub async fn doctor(pipeline: &Pipeline) -> Report {
    let asked = match ask(pipeline).await {
        Ok(asked) => asked,
        Err(unusable) => return Report::of("doctor", vec![unusable]),
    };
    let Asked {
        name,
        mut checks,
        session,
        slot,
        destination,
    } = asked;
    let stored = match &destination {
        None => Err(Reason::DestinationUnreachable.into()),
        Some(destination) => read(pipeline, &name, &destination.client).await,
    };
    let shown = stored.as_ref().map(|stored| stored.shown.as_ref());
    let acked = checkpoint::acked(shown);
    checks.extend(slot_checks(slot.as_ref(), acked));
    checks.push(match &slot {
        None => Check::skipped("slot_position", "slot", "source_unreachable"),
        Some(report) => slot::position(report.slot.as_ref(), acked),
    });
    if destination.is_none() {
        checks.extend(NEED_DESTINATION.map(|(name, domain)| {
            Check::skipped(name, domain, Reason::DestinationUnreachable.code())
        }));
        return Report::of("doctor", checks);
    }
    let expected = pipeline.options().source_identity.as_ref();
    checks.push(checkpoint::state(shown, expected));
    let Ok(stored) = &stored else {
        checks.extend(
            NEED_DESTINATION
                .iter()
                .filter(|(name, _)| *name != "checkpoint_state")
                .map(|(name, domain)| Check::skipped(name, domain, "checkpoint_unreadable")),
        );
        return Report::of("doctor", checks);
    };
    let shown = stored.shown.as_ref();
    let lease = shown.and_then(|shown| shown.lease.as_ref());
    let identity = session.as_ref().map(|session| &session.identity);
    checks.extend([
        checkpoint::source_position(shown, identity),
        contract::drift(&stored.drift),
        checkpoint::completeness(shown, stored.tables.as_deref()),
        owner::lease(lease, stored.lock),
        owner::last_halt(lease),
    ]);
    Report::of("doctor", checks)
}

const NEED_DESTINATION: [(&str, &str); 6] = [
    ("checkpoint_state", "checkpoint"),
    ("source_position", "checkpoint"),
    ("contract_drift", "contract"),
    ("completeness", "checkpoint"),
    ("lease", "runtime"),
    ("last_halt", "runtime"),
];

/// What the destination remembers.
struct Stored {
    shown: Option<Shown>,
    lock: LeaseLock,
    drift: Result<Outcome, Error>,
    tables: Result<Vec<(QualifiedName, Completeness)>, Error>,
}

async fn read(pipeline: &Pipeline, slot: &SlotName, client: &Client) -> Result<Stored, Error> {
    let store = Store::new(&pipeline.spec().checkpoint)?;
    let shown = match store.show(client, slot).await {
        // Before the first start there are no tables, which is no mistake.
        Err(error) if error.code() == "checkpoint_not_migrated" => {
            return Ok(Stored {
                shown: None,
                lock: LeaseLock::Free,
                drift: Ok(Outcome::Initialised),
                tables: Ok(Vec::new()),
            });
        }
        shown => shown?,
    };
    let lock = match shown.as_ref().and_then(|shown| shown.key(slot)) {
        None => LeaseLock::Free,
        Some(key) => store.lease_lock(client, &key).await?,
    };
    let publications = &pipeline.options().publications;
    let names: Vec<&str> = publications.iter().map(|name| name.as_str()).collect();
    let manifest = Manifest::new(pipeline.spec(), &names);
    let drift = store.drift(client, slot, &manifest).await;
    Ok(Stored {
        shown,
        lock,
        drift: drift.map_err(Error::from),
        tables: tables(pipeline, &store, client, slot).await,
    })
}

/// Every mapped source table and how much of it is there, in declaration order.
pub(crate) async fn tables(
    pipeline: &Pipeline,
    store: &Store,
    client: &Client,
    slot: &SlotName,
) -> Result<Vec<(QualifiedName, Completeness)>, Error> {
    let recorded = store.completeness_of(client, slot).await?;
    pipeline
        .spec()
        .mapped()
        .map(|resource| {
            let name = QualifiedName::new(resource.source.schema, resource.source.table)
                .map_err(|_| Error::from(Reason::DeclarationInvalid))?;
            let state = recorded.get(&name).copied().unwrap_or(Completeness::Open);
            Ok((name, state))
        })
        .collect()
}
