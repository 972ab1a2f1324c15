//! The functions a declaration names, as a constant beside the specification.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::declaration::Declaration;
use crate::library::optional;
use crate::path::Path;
use crate::resource::Lowered;

/// `const CODE: Code = ...;`
pub(super) fn constant(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    let library = &declaration.library;
    let private = library.at(Span::call_site());
    // A coercion in a call of ours, so that a function of another shape is an error at its path.
    let function = |path: &Option<Path>, of: &str| {
        optional(path.as_ref().map(|path| {
            let (private, function, span) = (library.at(path.span), path.at(path.span), path.span);
            let of = proc_macro2::Ident::new(of, span);
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
        .filter(|(_, emitted)| {
            !(emitted.changes.is_empty()
                && emitted.validations.is_empty()
                && emitted.effect.is_none())
        })
        .map(|(action, emitted)| {
            let called = action.called();
            let changes = emitted.changes.iter().map(|path| {
                let (private, hook, span) = (library.at(path.span), path.tokens(), path.span);
                quote_spanned!(span=> #private::change::<#hook, _>())
            });
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
