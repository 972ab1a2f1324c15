//! How a target is driven on stable Rust: corpus files and generated inputs, spoilt at random, until one breaks it.

use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::{Target, mutate, sequence};

/// Generated inputs kept at a time; they are replaced one by one as the run goes on.
const GENERATED: usize = 256;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// After this many inputs: the same inputs every time for one seed.
    Inputs(u64),
    /// After this long.
    Time(Duration),
}

/// An input broke an invariant.
#[derive(Debug)]
pub struct Broken {
    /// Which target.
    pub target: &'static str,
    /// The run that found it.
    pub seed: u64,
    /// The input, kept for the corpus.
    pub input: Vec<u8>,
    /// Where it was written; the panic itself went to stderr.
    pub written: io::Result<PathBuf>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (target, seed, length) = (self.target, self.seed, self.input.len());
        write!(
            f,
            "{target} breaks on an input of {length} bytes (seed {seed}), "
        )?;
        match &self.written {
            Ok(path) => write!(f, "written to {}", path.display()),
            Err(error) => write!(f, "not written: {error}"),
        }
    }
}

/// Runs one target; returns the number of inputs tried.
///
/// # Errors
/// The first input on which the target panics.
pub fn run(target: &Target, seed: u64, limit: Limit) -> Result<u64, Box<Broken>> {
    let corpus = corpus(target.name);
    let mut tried = 0;
    for input in &corpus {
        attempt(target, seed, input)?;
        tried += 1;
    }
    let mut rng = Rng::with_seed(seed);
    let mut source = Source::new(target, &mut rng);
    let mut pool: Vec<Vec<u8>> = (0..GENERATED).map(|_| source.next()).collect();
    let start = Instant::now();
    while match limit {
        Limit::Inputs(most) => tried < most,
        Limit::Time(most) => start.elapsed() < most,
    } {
        if rng.u8(0..16) == 0 {
            let at = rng.usize(..GENERATED);
            if let Some(place) = pool.get_mut(at) {
                *place = source.next();
            }
        }
        let any = |rng: &mut Rng| match rng.choice(&corpus) {
            Some(input) if rng.bool() => input.clone(),
            _ => rng.choice(&pool).cloned().unwrap_or_default(),
        };
        let mut input = any(&mut rng);
        if rng.u8(0..8) > 0 {
            let other = any(&mut rng);
            mutate::mutate(&mut rng, &mut input, &other);
        }
        attempt(target, seed, &input)?;
        tried += 1;
    }
    Ok(tried)
}

fn attempt(target: &Target, seed: u64, input: &[u8]) -> Result<(), Box<Broken>> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|_| {
        Box::new(Broken {
            target: target.name,
            seed,
            input: input.to_vec(),
            written: write(target.name, seed, input),
        })
    })
}

fn write(target: &str, seed: u64, input: &[u8]) -> io::Result<PathBuf> {
    let folder = root().join("target/fuzz");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{target}-{seed}.bin"));
    fs::write(&path, input)?;
    Ok(path)
}

/// Valid inputs, drawn from the target's strategy.
struct Source {
    strategy: proptest::strategy::BoxedStrategy<Vec<u8>>,
    runner: TestRunner,
}

impl Source {
    fn new(target: &Target, rng: &mut Rng) -> Self {
        let mut seed = [0; 32];
        rng.fill(&mut seed);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        Self {
            strategy: (target.valid)(),
            runner: TestRunner::new_with_rng(Config::default(), rng),
        }
    }

    fn next(&mut self) -> Vec<u8> {
        let tree = self.strategy.new_tree(&mut self.runner);
        tree.map(|tree| tree.current()).unwrap_or_default()
    }
}

/// Inputs kept in files: those that once broke the target, and what real servers sent.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut inputs: Vec<Vec<u8>> = files(&root().join("tests/fuzz/corpus").join(target))
        .into_iter()
        .filter_map(|path| fs::read(path).ok())
        .collect();
    let captures = files(&root().join("replicant-transport/tests/wire/captures"));
    for capture in captures
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "hex"))
    {
        let text = fs::read_to_string(capture).unwrap_or_default();
        let messages: Vec<Vec<u8>> = text.lines().filter_map(unhex).collect();
        match target {
            "message" => inputs.extend(messages),
            "assembler" | "relation_diff" => inputs.push(sequence::join(&messages)),
            _ => {}
        }
    }
    inputs
}

/// The files of a folder in the order of their names; none when there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn unhex(line: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = line.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    };
    pairs.chunks(2).map(byte).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
