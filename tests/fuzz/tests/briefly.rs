//! Every target, for a fixed number of inputs that are the same on every machine.

use replicant_fuzz::drive::{self, Limit};
use replicant_fuzz::{TARGETS, Target};

#[test]
fn no_target_breaks_within_a_few_thousand_inputs() {
    for target in TARGETS {
        let outcome = drive::run(target, 1, Limit::Inputs(5_000));
        match outcome {
            Ok(tried) => assert!(tried >= 5_000),
            Err(broken) => panic!("{broken}"),
        }
    }
}

#[test]
fn the_driver_finds_and_keeps_an_input_that_breaks_a_target() {
    let fragile = Target {
        name: "fragile",
        run: |input| assert!(!input.starts_with(b"R") || input.len() < 3),
        ..TARGETS[1]
    };
    let broken = drive::run(&fragile, 1, Limit::Inputs(5_000)).unwrap_err();
    assert_eq!(
        std::fs::read(broken.written.unwrap()).unwrap(),
        broken.input
    );
}
