//! Declarations that a test wrote: `REPLICANT_GENERATED` is the file of them.
#![deny(warnings, long_running_const_eval)]
#![allow(dead_code, missing_docs)]

include!(env!("REPLICANT_GENERATED"));
