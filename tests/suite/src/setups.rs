//! Is a setup that cannot work refused before anything exists, and does the repair that is shown make it work?

use replicant_sink::doctor::{self, Report, Verdict};
use replicant_sink::options::DestinationConstraints;
use replicant_test_servers::Installation;

use crate::World;
use crate::refusal::{
    assert_says, drop_slot, has_checkpoint_tables, refused, shown_statement, slot_exists,
};
use crate::specification::Specification;

/// The table of every case.
pub const BASE: &str = "create table t (id int primary key, v text)";

/// What makes the setup work again.
pub enum Repair {
    /// The statement in the message, on this side.
    Shown(Side),
    /// This statement, on this side: the message names what is wrong and leaves the choice.
    Run(Side, &'static str),
    /// A new declaration; the same process cannot go on.
    Declaration,
}

/// Where a statement is run.
#[derive(Clone, Copy)]
pub enum Side {
    /// On the source.
    Source,
    /// In the destination.
    Destination,
}

/// One setup that is refused.
pub struct Case {
    /// What is wrong, for the test's own messages.
    pub what: &'static str,
    /// The first major release where it can be wrong.
    pub since: u32,
    /// Run on the source before the start.
    pub source: &'static str,
    /// Run in the destination before the start.
    pub destination: &'static str,
    /// What is declared instead of the mirror of `t`.
    pub declare: fn(Specification) -> Specification,
    /// How the destination's constraints are handled.
    pub constraints: DestinationConstraints,
    /// The reason.
    pub code: &'static str,
    /// What the message names.
    pub mentions: &'static [&'static str],
    /// What makes it work.
    pub repair: Repair,
}

/// A setup that works.
pub const GOOD: Case = Case {
    what: "",
    since: 12,
    source: "",
    destination: "",
    declare: |it| it,
    constraints: DestinationConstraints::Deferred,
    code: "",
    mentions: &["public.t"],
    repair: Repair::Declaration,
};

/// Refused before anything exists, by a start and by preflight alike; repaired, it mirrors.
async fn check(case: &Case) {
    let world = World::same(BASE).await;
    let declared = world.specification(&["t"]).await;
    let spec = (case.declare)(declared).build();
    world.run(case.source).await;
    world
        .destination
        .batch_execute(case.destination)
        .await
        .unwrap();
    let pipeline = world
        .pipeline(spec)
        .await
        .destination_constraints(case.constraints);

    let report = doctor::preflight(&pipeline).await;
    let failed: Vec<_> = report
        .checks
        .iter()
        .filter(|check| check.status == Verdict::Fail)
        .map(|check| check.reason)
        .collect();
    assert!(failed.contains(&case.code), "{}: {report:?}", case.what);
    assert_eq!(report.exit_code, 1, "{}: {report:?}", case.what);

    let error = refused(&pipeline).await;
    assert_says(&error, case.code, case.mentions, case.what);
    assert!(!slot_exists(&world).await, "{}", case.what);
    assert!(!has_checkpoint_tables(&world).await, "{}", case.what);

    let (side, statement) = match case.repair {
        Repair::Shown(side) => (side, shown_statement(&error)),
        Repair::Run(side, statement) => (side, statement.to_owned()),
        Repair::Declaration => return,
    };
    let client = match side {
        Side::Source => &world.source,
        Side::Destination => &world.destination,
    };
    if let Err(error) = client.batch_execute(&statement).await {
        panic!("{}: {statement}: {error:?}", case.what);
    }
    let mut handle = pipeline.start().await.unwrap();
    if let Err(error) = handle.ready().await {
        panic!("{}: not repaired: {error}", case.what);
    }
    world.run("insert into t (id) values (1), (2); update t set id = 3 where id = 2; delete from t where id = 1").await;
    world.caught_up().await;
    let ids = world
        .destination_text("select string_agg(id::text, ',') from t")
        .await;
    assert_eq!(ids, "3", "{}", case.what);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// Checks each of them.
///
/// # Panics
/// When one is not refused as it says, or not repaired by what is shown.
pub async fn check_all(cases: &[Case]) {
    let major = Installation::selected().unwrap().major();
    for case in cases.iter().filter(|case| case.since <= major) {
        check(case).await;
    }
}

/// How one check of a report came out.
///
/// # Panics
/// When there is no such check.
pub fn verdict(report: &Report, name: &str) -> (Verdict, &'static str) {
    let check = report.checks.iter().find(|check| check.name == name);
    let check = check.unwrap_or_else(|| panic!("no check {name}: {report:#?}"));
    (check.status, check.reason)
}
