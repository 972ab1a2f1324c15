#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| (replicant_fuzz::target("assembler").unwrap().run)(input));
