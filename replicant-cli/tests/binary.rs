//! What does the bare binary answer, and with which exit code?
#![allow(clippy::panic, reason = "a test says what it expects")]

use std::process::{Command, Output};

fn replicant(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicant"));
    command.args(arguments);
    command
        .output()
        .unwrap_or_else(|error| panic!("it runs: {error}"))
}

#[test]
fn exit_codes_tell_an_answer_from_a_question_that_could_not_be_asked() {
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["explain", "truncate_halt"], 0),
        (&["explain", "--list", "--format", "json"], 0),
        (&["explain", "no_such_code"], 3),
        (&["explain", "--no-such-option"], 3),
        (&["no-such-command"], 3),
        (&[], 3),
        (&["status"], 3),
        (&["checkpoint", "adopt"], 3),
    ] {
        let output = replicant(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
    }
}

#[test]
fn a_pipe_gets_no_colours() {
    let output = replicant(&["explain", "--list"]);
    assert!(!output.stdout.contains(&0x1b));
    assert!(output.stdout.len() > 1000);
}
