//! Is every source transaction effective exactly once, at whatever step the mirror's process dies?

use replicant_sink::delivery::failpoint::Step;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::run::{Run, is_streaming, streaming};
use replicant_tests::world::DEADLINE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");

/// Traffic until the process is dead, of every kind that reaches a step.
async fn until_dead(run: &mut Run, process: &mut MirrorProcess, step: Step) {
    let started = tokio::time::Instant::now();
    while process.ended().is_none() {
        assert!(started.elapsed() < DEADLINE, "{step:?} was never reached");
        let before = run.world.acked_end().await;
        match step {
            Step::Bound | Step::Originated => reconnect(run, process).await,
            Step::PartApplied => run.large().await,
            Step::IdleRecorded => unpublished_wal(run).await,
            _ => run.round().await,
        }
        observed(run, process, async |world| {
            world.acked_end().await != before
        })
        .await;
    }
    run.round().await;
}

async fn reconnect(run: &mut Run, process: &mut MirrorProcess) {
    run.round().await;
    run.world
        .run(&format!(
            "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '{}'",
            run.world.slot
        ))
        .await;
    observed(run, process, is_streaming).await;
}

/// Waits until something is seen of the process, or it is dead.
async fn observed(run: &Run, process: &mut MirrorProcess, seen: impl AsyncFn(&World) -> bool) {
    wait_for("a sign of life or death", DEADLINE, async || {
        (process.ended().is_some() || seen(&run.world).await).then_some(())
    })
    .await
    .unwrap();
}

/// WAL that publishes nothing, as much as makes an idle advance due.
async fn unpublished_wal(run: &Run) {
    run.world
        .run("select pg_logical_emit_message(false, 'p', repeat('x', 4000000)) from generate_series(1, 5)")
        .await;
}

/// Dies at each of these steps, the given time it is reached, and is started again.
async fn dies_at_every_step(steps: impl Iterator<Item = &Step>, time: u32) {
    let mut run = Run::start(PROGRAM).await;
    for step in steps {
        let mut process = run
            .spawn(Launch::dying_at(&format!("{}:{time}", step.name())))
            .await;
        until_dead(&mut run, &mut process, *step).await;
        run.slot_is_free().await;
        let process = run.spawn(Launch::default()).await;
        run.judge().await;
        process.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_step_loses_and_repeats_nothing() {
    dies_at_every_step(Step::ALL.iter(), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_death_at_any_step_loses_and_repeats_nothing() {
    dies_at_every_step(Step::ALL.iter(), 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_that_dies_at_any_step_is_started_again() {
    for step in [Step::Bound, Step::Originated] {
        let mut run = Run::unstarted(PROGRAM).await;
        let mut process = run.spawn(Launch::dying_at(step.name())).await;
        process.wait().await;
        let process = run.spawn(Launch::default()).await;
        streaming(&run.world).await;
        run.round().await;
        run.judge().await;
        process.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_moment_loses_and_repeats_nothing() {
    let mut run = Run::start(PROGRAM).await;
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..6 {
        let mut process = run.spawn(Launch::default()).await;
        // Half of the kills hit a start, the others hit deliveries.
        if random.bool() {
            streaming(&run.world).await;
        }
        for _ in 0..random.u32(1..30) {
            if random.u32(..10) == 0 {
                run.large().await;
            }
            run.round().await;
        }
        process.kill().await;
        run.round().await;
    }
    let process = run.spawn(Launch::default()).await;
    run.judge().await;
    process.stop().await;
}
