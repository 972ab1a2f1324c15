//! `cargo xtask test`: does everything pass that must, and did it really run?

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use cargo_metadata::{Message, Metadata};
use replicant_test_servers::Installation;
use replicant_test_servers::installation::VERSION_VARIABLE;

use crate::run::{Failure, cargo, command_line};
use crate::runner_output::{Count, Reader};
use crate::{provision, workspace};

/// Run every test of the workspace against a real PostgreSQL.
///
/// Finds PostgreSQL, or installs it with apt-get when run as root on Debian, or fetches a build into target/. The
/// tests start their own private clusters. A failed test, an ignored test and a package without any test all fail
/// the run, so that a green run means that everything ran.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// PostgreSQL major versions, such as 12,15,18: runs the suites that talk to a server once per version
    /// (fetched once and cached under target/postgres when this machine has no such version), instead of
    /// everything once.
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS", value_parser = clap::value_parser!(u32).range(12..=99))]
    pg: Vec<u32>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let metadata = workspace::metadata()?;
    let started = Instant::now();
    if options.pg.is_empty() {
        let installation = provision::postgres()?;
        let counts = run_suite(&metadata, &installation, &["test", "--workspace"])?;
        let expected: Vec<String> = members(&metadata);
        report(&counts, &expected, &installation, started)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut matrix = vec!["test", "--workspace"];
    let targets = integration_targets(&metadata);
    for target in &targets {
        matrix.extend(["--test", target]);
    }
    for major in &options.pg {
        let installation = Installation::of_version(*major)?;
        let started = Instant::now();
        let counts = run_suite(&metadata, &installation, &matrix)?;
        report(&counts, &[], &installation, started)?;
    }
    println!(
        "PostgreSQL {}: all passed in {:.0} s",
        join(&options.pg),
        started.elapsed().as_secs_f64()
    );
    Ok(ExitCode::SUCCESS)
}

/// Builds, then runs, so that a compile error is not mistaken for a test that did not run.
fn run_suite(
    metadata: &Metadata,
    installation: &Installation,
    arguments: &[&str],
) -> Result<BTreeMap<String, Count>, Failure> {
    println!("testing with PostgreSQL {}", installation.version());
    let mut reader = Reader::new(executables(metadata, arguments)?, libraries(metadata));
    let mut command = cargo(arguments);
    command.arg("--no-fail-fast");
    command.env(VERSION_VARIABLE, installation.major().to_string());
    let line = command_line(&command);
    // One pipe for both streams: the runner says on one whose results it prints on the other.
    let (output, writer) = std::io::pipe()?;
    let second = writer.try_clone()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(second)
        .spawn()?;
    // Our copies of the writing end live in the command; without this the pipe would never end.
    drop(command);
    for text in BufReader::new(output).lines() {
        let text = text?;
        println!("{text}");
        reader.line(&text);
    }
    let status = child.wait()?;
    let counts = reader.finish();
    if status.success() {
        Ok(counts)
    } else {
        let failed: u64 = counts.values().map(|count| count.failed).sum();
        Err(Failure::Failed(format!(
            "{failed} tests failed with PostgreSQL {}; repeat with `{line}`",
            installation.version()
        )))
    }
}

/// Prints one line per package and the total; refuses what only looks green.
fn report(
    counts: &BTreeMap<String, Count>,
    expected: &[String],
    installation: &Installation,
    started: Instant,
) -> Result<(), Failure> {
    println!();
    let total = counts
        .values()
        .fold(Count::default(), |sum, count| sum.plus(*count));
    for (package, count) in counts {
        println!("{package:<28} {:>5} passed", count.passed);
    }
    println!(
        "{:<28} {:>5} passed, {} failed, {} ignored with PostgreSQL {} in {:.0} s",
        "total",
        total.passed,
        total.failed,
        total.ignored,
        installation.version(),
        started.elapsed().as_secs_f64()
    );
    let silent: Vec<&String> = expected
        .iter()
        .filter(|package| counts.get(*package).is_none_or(|count| count.passed == 0))
        .collect();
    if total.passed == 0 {
        return Err(Failure::Failed("no test ran".to_owned()));
    }
    if total.ignored + total.filtered > 0 {
        return Err(Failure::Failed(format!(
            "{} tests were ignored or filtered out; a test that does not run proves nothing",
            total.ignored + total.filtered
        )));
    }
    if !silent.is_empty() {
        return Err(Failure::Failed(format!("no test ran in {}", join(&silent))));
    }
    Ok(())
}

/// File name of every test executable, and the package it belongs to.
fn executables(
    metadata: &Metadata,
    arguments: &[&str],
) -> Result<BTreeMap<String, String>, Failure> {
    let mut command = cargo(arguments);
    command.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let output = crate::run::output_of(&mut command)?;
    let mut found = BTreeMap::new();
    for message in Message::parse_stream(output.as_bytes()).flatten() {
        let Message::CompilerArtifact(artifact) = message else {
            continue;
        };
        let package = metadata
            .packages
            .iter()
            .find(|package| package.id == artifact.package_id);
        if let Some(path) = artifact.executable
            && let Some(package) = package
            && let Some(name) = path.file_name()
        {
            found.insert(name.to_owned(), package.name.to_string());
        }
    }
    Ok(found)
}

fn libraries(metadata: &Metadata) -> BTreeMap<String, String> {
    metadata
        .packages
        .iter()
        .map(|package| (package.name.replace('-', "_"), package.name.to_string()))
        .collect()
}

fn members(metadata: &Metadata) -> Vec<String> {
    metadata
        .packages
        .iter()
        .map(|package| package.name.to_string())
        .collect()
}

fn integration_targets(metadata: &Metadata) -> Vec<String> {
    metadata
        .packages
        .iter()
        .filter(|package| workspace::MATRIX.contains(&package.name.as_str()))
        .flat_map(|package| &package.targets)
        .filter(|target| target.is_test())
        .map(|target| target.name.clone())
        .collect()
}

fn join<T: ToString>(items: &[T]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
