//! Does anything in the `conninfo` parser panic on arbitrary bytes? Coverage-guided, same function as on stable.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| (replicant_fuzz::target("conninfo").unwrap().run)(input));
