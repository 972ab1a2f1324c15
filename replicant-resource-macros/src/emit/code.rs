//! The functions a declaration names, as a constant beside the specification.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::declaration::Declaration;
use crate::library::optional;
use crate::path::Path;
use crate::resource::Lowered;

/// One constant for each entry of `changes(...)`: the specification asks it what the hook runs, the code how it is
/// called, and a type that is no hook is one mistake.
pub(super) fn changes(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    let private = declaration.library.at(Span::call_site());
    let entries = lowered
        .actions
        .iter()
        .enumerate()
        .flat_map(|(index, emitted)| {
            let changes = emitted.changes.iter().enumerate();
            changes.map(move |(entry, path)| (change_constant(index, entry), path))
        });
    entries
        .map(|(constant, path)| {
            let (hook, span) = (path.tokens(), path.span);
            let at = declaration.library.at(span);
            let value = quote_spanned!(span=> #at::change::<#hook, _>());
            quote!(const #constant: #private::ChangeRef = #value;)
        })
        .collect()
}

/// What the constant of an entry is called: of which action, which entry.
pub(super) fn change_constant(action: usize, entry: usize) -> Ident {
    format_ident!("__CHANGE_{action}_{entry}")
}

/// `const CODE: Code = ...;`
pub(super) fn constant(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    let library = &declaration.library;
    let private = library.at(Span::call_site());
    // A coercion in a call of ours, so that a function of another shape is an error at its path.
    let function = |path: &Option<Path>, of: &str| {
        optional(path.as_ref().map(|path| {
            let (private, function, span) = (library.at(path.span), path.at(path.span), path.span);
            let of = Ident::new(of, span);
            quote_spanned!(span=> #private::#of(#function))
        }))
    };
    let tenant = function(&lowered.tenant_fn, "tenant_fn");
    let scopes = function(&lowered.scopes, "snapshot_scopes");
    let actions = lowered
        .declared
        .actions
        .iter()
        .flatten()
        .zip(&lowered.actions)
        .enumerate()
        .filter(|(_, (_, emitted))| {
            !(emitted.changes.is_empty()
                && emitted.validations.is_empty()
                && emitted.effect.is_none())
        })
        .map(|(index, (action, emitted))| {
            let called = action.called();
            let changes = (0..emitted.changes.len()).map(|entry| change_constant(index, entry));
            let validations = emitted.validations.iter().map(|path| {
                let (private, hook, span) = (library.at(path.span), path.tokens(), path.span);
                quote_spanned!(span=> #private::validation::<#hook>())
            });
            let effect = optional(emitted.effect.as_ref().map(|path| {
                let (private, effect, span) = (library.at(path.span), path.tokens(), path.span);
                quote_spanned!(span=> #private::effect::<#effect>())
            }));
            quote! {
                #private::ActionCode {
                    action: #called,
                    changes: &[#(#changes),*],
                    validations: &[#(#validations),*],
                    effect: #effect,
                }
            }
        });
    quote! {
        const CODE: #private::Code = #private::Code {
            tenant: #tenant,
            scopes: #scopes,
            actions: &[#(#actions),*],
        };
    }
}
