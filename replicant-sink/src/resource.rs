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

/// One resource of a domain.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    spec: &'static ResourceSpec,
    code: &'static Code,
}

/// A resource as an entry of `resources(...)`. The name appears in compiler messages.
pub const fn member<R: Resource>() -> Member {
    Member {
        spec: const { &R::SPEC },
        code: const { &R::CODE },
    }
}

/// One domain of a sink.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    specs: &'static [&'static ResourceSpec],
    code: &'static [&'static Code],
}

/// A domain as an entry of `domains(...)`. The name appears in compiler messages.
pub const fn members<D: Domain>() -> Members {
    Members {
        specs: D::RESOURCES,
        code: D::CODE,
    }
}

/// Each entry is named once in generated code, so that a wrong one is one mistake; these take the list apart.
macro_rules! column_of {
    ($($(#[$doc:meta])* $name:ident: $entry:ty => $field:ident, $of:ty;)*) => {$(
        $(#[$doc])*
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
        )]
        pub const fn $name<const N: usize>(entries: &[$entry; N], none: $of) -> [$of; N] {
            let mut column = [none; N];
            let mut at = 0;
            while at < N {
                column[at] = entries[at].$field;
                at += 1;
            }
            column
        }
    )*};
}

column_of! {
    /// The declarations of a domain.
    specs: Member => spec, &'static ResourceSpec;
    /// The functions of a domain.
    codes: Member => code, &'static Code;
    /// The declarations of a sink.
    domain_specs: Members => specs, &'static [&'static ResourceSpec];
    /// The functions of a sink.
    domain_codes: Members => code, &'static [&'static Code];
}

/// The functions that a resource of a sink names.
pub(crate) fn code_of(
    spec: &SinkSpec,
    code: &[&[&'static Code]],
    resource: &ResourceSpec,
) -> Option<&'static Code> {
    let domains = spec.domains.iter().zip(code);
    let mut members = domains.flat_map(|(specs, code)| specs.iter().zip(*code));
    // Two resources of one sink never write the same table.
    let found = members.find(|(one, _)| one.target == resource.target);
    found.map(|(_, code)| *code)
}

/// A declared period. One of no length is refused where it is declared; a second stands in for it.
pub const fn period(seconds: u64) -> Period {
    match Period::of_seconds(seconds) {
        Some(period) => period,
        None => period(1),
    }
}
