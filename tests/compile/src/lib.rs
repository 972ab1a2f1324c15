//! Compile tests of the declaration language live in `tests/`: `pass/` compiles, `fail/` does not.
