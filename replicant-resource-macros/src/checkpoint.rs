//! `#[replicant_checkpoint(...)]`: where the checkpoint lives and who may read it.

use proc_macro2::{Span, TokenStream};
use quote::quote;

use replicant_checkpoint::contract::declared::DeclaredCheckpoint;
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::{Part, names};

use crate::declaration::Declaration;
use crate::diagnostics::Diagnostics;
use crate::item::{Form, Wanted};
use crate::library::optional;
use crate::options::Options;
use crate::spans::Spans;

/// Expands the attribute, leaving the messages to the caller.
pub(crate) fn expand_into(
    options: TokenStream,
    item: TokenStream,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let read = Declaration::read(Place::Checkpoint, Wanted::Unit, options, item, diagnostics);
    let mut declaration = match read {
        Ok(declaration) => declaration,
        Err(tokens) => return tokens,
    };
    let declared = lower(&declaration.options, &mut declaration.spans);
    if declaration.item.form == Form::Usable {
        let violations = names::checkpoint(&declared);
        diagnostics.report_violations(violations, &declaration.spans);
    }
    let types = declaration.library.at(Span::call_site());
    let schema = declared.schema.clone().unwrap_or_default();
    let select_grant = optional(declared.select_grant.as_ref());
    declaration.implement(
        "Checkpoint",
        &quote! {
            const SPEC: #types::contract::sink::CheckpointSpec = #types::contract::sink::CheckpointSpec {
                schema: #schema,
                select_grant: #select_grant,
            };
        },
    )
}

/// Reads options into a declaration.
pub(crate) fn lower(options: &Options, spans: &mut Spans) -> DeclaredCheckpoint {
    let grants = options.block("grants");
    DeclaredCheckpoint {
        schema: spans.text(Part::CheckpointSchema, options, "schema"),
        select_grant: grants.and_then(|grants| spans.text(Part::SelectGrant, grants, "select")),
    }
}
