//! Who replicates the backlog? PostgreSQL's own subscription, or Replicant.

use replicant_shop::accounts::AccountsSink;
use replicant_sink::resource::SinkDeclaration;
use replicant_test_servers::wait_for_true;
use std::time::Duration;

use super::arena::{Arena, Prepared, Run, clock};
use super::kept::{Keeps, Whose};
use crate::run::Failure;
use crate::shop_process::{Program, Usage, usage_of};

/// One of those compared.
#[derive(Clone, Debug)]
pub(crate) enum Contestant {
    /// `create subscription`, with the server's defaults.
    Native,
    /// The same with `binary = true`.
    NativeBinary,
    /// The shop's pipeline.
    Replicant(Program),
    /// The plain mirror of what another of the shop's pipelines seals.
    Plain(Program),
}

/// The result of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) rows_per_second: f64,
    pub(crate) usage: Usage,
}

impl Contestant {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::NativeBinary => "native_binary",
            Self::Replicant(_) => "replicant",
            Self::Plain(_) => "plain",
        }
    }

    /// One run over the prepared backlog.
    pub(crate) async fn measure(
        &self,
        arena: &Arena,
        prepared: &Prepared,
    ) -> Result<Measured, Failure> {
        let (seconds, usage) = match self {
            Self::Native => self.native(arena, prepared, "").await?,
            Self::NativeBinary => self.native(arena, prepared, ", binary = true").await?,
            Self::Replicant(program) => {
                let keeps = prepared.workload.keeps;
                let (pipeline, slot, arrival) = (keeps.pipeline(), keeps.slot(), keeps.arrival());
                let ours = Contender {
                    pipeline,
                    slot,
                    arrival,
                    whose: Whose::Ours,
                };
                ours.measure(program, arena, prepared).await?
            }
            Self::Plain(program) => {
                let plain = Contender {
                    pipeline: "accounts",
                    slot: AccountsSink::SPEC.slot_name,
                    arrival: prepared.workload.keeps.baseline_arrival(),
                    whose: Whose::Baseline,
                };
                plain.measure(program, arena, prepared).await?
            }
        };
        Ok(Measured {
            rows_per_second: f64::from(prepared.workload.rows()) / seconds,
            usage,
        })
    }

    async fn native(
        &self,
        arena: &Arena,
        prepared: &Prepared,
        option: &str,
    ) -> Result<(f64, Usage), Failure> {
        let slot = self.name();
        let run = arena.run(prepared, slot).await?;
        let conninfo = arena.source.conninfo(&prepared.database);
        run.client
            .batch_execute(&format!(
                "create subscription {slot} connection '{conninfo}' publication native \
                 with (copy_data = false, create_slot = false, slot_name = '{slot}'{option})"
            ))
            .await?;
        let arrival = prepared.workload.keeps.baseline_arrival();
        let seconds = clock(prepared, &run, arrival, || Ok(())).await?;
        let worker: Option<i32> = run
            .client
            .query_one("select pid from pg_catalog.pg_stat_subscription", &[])
            .await?
            .get(0);
        let usage = worker
            .and_then(|pid| u32::try_from(pid).ok())
            .map(usage_of)
            .unwrap_or_default();
        verify(prepared, &run, Whose::Baseline).await?;
        run.client
            .batch_execute(&format!(
                "alter subscription {slot} disable; alter subscription {slot} set (slot_name = none); \
                 drop subscription {slot}"
            ))
            .await?;
        wait_for_true(
            &run.client,
            "select not exists (select from pg_catalog.pg_stat_subscription where pid is not null)",
            Duration::from_secs(30),
        )
        .await?;
        arena.finish(prepared, run).await?;
        Ok((seconds, usage))
    }
}

/// One of the shop's pipelines in a run.
struct Contender {
    pipeline: &'static str,
    slot: &'static str,
    arrival: &'static str,
    whose: Whose,
}

impl Contender {
    async fn measure(
        &self,
        program: &Program,
        arena: &Arena,
        prepared: &Prepared,
    ) -> Result<(f64, Usage), Failure> {
        let run = arena.run(prepared, self.slot).await?;
        let ends = arena.ends(prepared, &run, self.pipeline).await?;
        let mut process = program.start(&ends)?;
        let seconds = clock(prepared, &run, self.arrival, || match process.ended() {
            None => Ok(()),
            Some(status) => Err(Failure::Failed(format!("the pipeline ended with {status}"))),
        })
        .await?;
        let usage = process.usage();
        process.stop()?;
        verify(prepared, &run, self.whose).await?;
        arena.finish(prepared, run).await?;
        Ok((seconds, usage))
    }
}

/// Whoever is fast and wrong has not won anything.
async fn verify(prepared: &Prepared, run: &Run, who: Whose) -> Result<(), Failure> {
    let right = match prepared.workload.keeps {
        Keeps::Current => replicant_shop::verify::compare(&prepared.client, &run.client)
            .await?
            .is_clean(),
        keeps => {
            let changes = prepared.workload.rows();
            keeps
                .is_right(&prepared.client, &run.client, who, changes)
                .await?
        }
    };
    if right {
        Ok(())
    } else {
        Err(Failure::Failed(
            "the destination differs from its source after the run".to_owned(),
        ))
    }
}
