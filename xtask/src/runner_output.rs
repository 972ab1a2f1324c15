//! What did the test runner say? Its closing lines, counted per package.

use std::collections::BTreeMap;

/// What the closing lines of one package add up to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Count {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    pub(crate) filtered: u64,
}

impl Count {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
            filtered: self.filtered + other.filtered,
        }
    }
}

/// Reads the runner's output line by line and remembers whose tests run now.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Test executable to package.
    executables: BTreeMap<String, String>,
    /// Library crate name to package, for documentation tests.
    libraries: BTreeMap<String, String>,
    current: Option<String>,
    counts: BTreeMap<String, Count>,
}

impl Reader {
    pub(crate) fn new(
        executables: BTreeMap<String, String>,
        libraries: BTreeMap<String, String>,
    ) -> Self {
        Self {
            executables,
            libraries,
            current: None,
            counts: BTreeMap::new(),
        }
    }

    /// Takes one line of output.
    pub(crate) fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(library) = line.strip_prefix("Doc-tests ") {
            self.current = self.libraries.get(library).cloned();
        } else if line.starts_with("Running ")
            && let Some((_, path)) = line.rsplit_once('(')
        {
            let name = path.trim_end_matches(')').rsplit('/').next();
            self.current = name.and_then(|name| self.executables.get(name)).cloned();
        } else if let Some(count) = closing_line(line) {
            let package = self.current.clone().unwrap_or_else(|| "?".to_owned());
            let sum = self.counts.entry(package).or_default();
            *sum = sum.plus(count);
        }
    }

    /// What every package added up to.
    pub(crate) fn finish(self) -> BTreeMap<String, Count> {
        self.counts
    }
}

/// `test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`
fn closing_line(line: &str) -> Option<Count> {
    let rest = line.strip_prefix("test result: ")?;
    let (_, numbers) = rest.split_once(". ")?;
    let mut count = Count::default();
    for part in numbers.split("; ") {
        let mut words = part.split_whitespace();
        let (Some(number), Some(what)) = (words.next(), words.next()) else {
            continue;
        };
        let Ok(number) = number.parse() else { continue };
        match what {
            "passed" => count.passed = number,
            "failed" => count.failed = number,
            "ignored" => count.ignored = number,
            "filtered" => count.filtered = number,
            _ => {}
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up_per_package() {
        let executables = BTreeMap::from([("clusters-b468".to_owned(), "servers".to_owned())]);
        let libraries = BTreeMap::from([("replicant_cli".to_owned(), "cli".to_owned())]);
        let mut reader = Reader::new(executables, libraries);
        for line in [
            "     Running tests/clusters.rs (target/debug/deps/clusters-b468)",
            "test waits ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s",
            "   Doc-tests replicant_cli",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s",
        ] {
            reader.line(line);
        }
        let counts = reader.finish();
        let of = |package: &str| counts.get(package).copied().unwrap_or_default();
        assert_eq!(
            (
                of("servers").passed,
                of("servers").ignored,
                of("servers").filtered
            ),
            (3, 1, 2)
        );
        assert_eq!((of("cli").passed, of("cli").failed), (1, 2));
    }
}
