//! Which declarations compile, and what the compiler says about those that do not.
//!
//! `fail/<rung>/<rule>.rs` breaks one rule; the module of that name in `pass/<rung>.rs` is its legal neighbour.
//! `TRYBUILD=overwrite cargo test -p replicant-compile-tests` writes the `.stderr` files anew.

use std::fs;
use std::path::Path;

use replicant_sink::contract::rules::Rule;

#[test]
fn declarations() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/examples/*.rs");
    cases.pass("tests/pass/*.rs");
    cases.compile_fail("tests/fail/*.rs");
    cases.compile_fail("tests/fail/*/*.rs");
}

#[test]
fn every_rule_has_a_case_that_breaks_it_and_a_legal_neighbour() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for rule in Rule::ALL {
        let (code, rung) = (rule.code(), rule.rung().as_str());
        let message = fs::read_to_string(tests.join(format!("fail/{rung}/{code}.stderr")))
            .unwrap_or_else(|_| panic!("no case breaks {code}"));
        assert!(
            message.contains(&format!("replicant[{code}]")),
            "{code} is not what its case breaks"
        );
        let neighbours = fs::read_to_string(tests.join(format!("pass/{rung}.rs"))).unwrap();
        assert!(
            neighbours.contains(&format!("mod {code} {{")),
            "{code} has no legal neighbour"
        );
    }
}

#[test]
fn a_case_breaks_nothing_but_its_rule() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for rule in Rule::ALL {
        let (code, rung) = (rule.code(), rule.rung().as_str());
        let message = fs::read_to_string(tests.join(format!("fail/{rung}/{code}.stderr"))).unwrap();
        for other in Rule::ALL.iter().filter(|other| *other != rule) {
            let other = format!("replicant[{}]", other.code());
            assert!(!message.contains(&other), "{code} also breaks {other}");
        }
    }
}
