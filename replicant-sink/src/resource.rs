//! What a declaration compiles to: the traits that `#[replicant]`, `#[replicant_domain]`, `#[replicant_checkpoint]`
//! and `#[replicant_sink]` implement.

use replicant_checkpoint::contract::resource::{Period, ResourceSpec};
use replicant_checkpoint::contract::sink::{CheckpointSpec, SinkSpec};

use crate::hooks::Code;

/// A declared target. Implemented by `#[replicant(...)]` only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a replicant resource",
    label = "this type carries no `#[replicant(...)]`",
    note = "add `#[replicant(source_table = \"...\", table = \"...\", ...)]` to the struct"
)]
pub trait Resource {
    /// Module path and name of the type, by which hooks and routes of the same sink refer to it.
    const PATH: &'static str;
    /// The declaration.
    const SPEC: ResourceSpec;
    /// The functions it names.
    const CODE: Code;
}

/// A list of resources. Implemented by `#[replicant_domain(resources(...))]` only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a replicant domain",
    label = "this type carries no `#[replicant_domain(...)]`",
    note = "add `#[replicant_domain(resources(A, B))]` to a unit struct and name that struct here"
)]
pub trait Domain {
    /// The declarations of its resources.
    const RESOURCES: &'static [&'static ResourceSpec];
    /// The functions its resources name, in the same order.
    const CODE: &'static [&'static Code];
}

/// Where the checkpoint lives. Implemented by `#[replicant_checkpoint(...)]` only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a replicant checkpoint",
    label = "this type carries no `#[replicant_checkpoint(...)]`",
    note = "add `#[replicant_checkpoint(schema = \"replicant\")]` to a unit struct and name that struct here"
)]
pub trait Checkpoint {
    /// The declaration.
    const SPEC: CheckpointSpec;
}

/// A declared sink. Implemented by `#[replicant_sink(...)]` only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a replicant sink",
    label = "this type carries no `#[replicant_sink(...)]`",
    note = "add `#[replicant_sink(slot_name = \"...\", domains(...), checkpoint = ...)]` to a unit struct"
)]
pub trait SinkDeclaration {
    /// The declaration.
    const SPEC: SinkSpec;
    /// The functions its resources name, domain by domain, in the order of the declaration.
    const CODE: &'static [&'static [&'static Code]];
}

/// A declared period. One of no length is refused where it is declared; a second stands in for it.
pub const fn period(seconds: u64) -> Period {
    match Period::of_seconds(seconds) {
        Some(period) => period,
        None => period(1),
    }
}
