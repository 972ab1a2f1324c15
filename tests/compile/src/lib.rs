//! Compile tests of the declaration language live beside this: what `tests/` holds compiles, what `mistakes/` holds does
//! not. The examples of the README and of the book are compiled here.

#[cfg(doctest)]
mod examples {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/src/guide/first-pipeline.md")]
    struct FirstPipeline;

    #[doc = include_str!("../../../docs/src/guide/declarations.md")]
    struct Declarations;

    #[doc = include_str!("../../../docs/src/guide/history.md")]
    struct History;

    #[doc = include_str!("../../../docs/src/guide/append-log.md")]
    struct AppendLog;

    #[doc = include_str!("../../../docs/src/guide/hooks.md")]
    struct Hooks;

    #[doc = include_str!("../../../docs/src/guide/tenancy.md")]
    struct Tenancy;

    #[doc = include_str!("../../../docs/src/guide/sealing.md")]
    struct Sealing;

    #[doc = include_str!("../../../docs/src/guide/configuration.md")]
    struct Configuration;

    #[doc = include_str!("../../../docs/src/operating/halts.md")]
    struct Halts;

    #[doc = include_str!("../../../docs/src/operating/basics.md")]
    struct Operating;
}
