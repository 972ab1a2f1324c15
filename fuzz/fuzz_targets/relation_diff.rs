//! Does anything in the `relation_diff` decoder panic on arbitrary bytes? Coverage-guided, same function as on stable.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| (replicant_fuzz::target("relation_diff").unwrap().run)(input));
