//! Where generated code finds the library: the path the host gave, and one versioned module below it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::options::Options;
use crate::path::Path;

/// The module generated code may name. It changes with every release that changes what is generated.
pub(crate) const PRIVATE: [&str; 2] = ["__private", "v0_1"];

/// Where the library is, as the host named it.
pub(crate) struct Library(Path);

impl Library {
    /// The path given by `crate = path`, else the library's own name.
    pub(crate) fn of(options: &Options) -> Self {
        let given = options.path("crate").cloned();
        Self(given.unwrap_or_else(|| Path::absolute(&["replicant_sink"])))
    }

    /// The private module, with this span on every token: the compiler underlines from the first token of a call
    /// to its last.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        let root = self.0.at(span);
        let [private, version] = PRIVATE.map(|name| Ident::new(name, span));
        quote_spanned!(span=> #root::#private::#version)
    }
}

/// `Some(value)` or `None`, without a prelude.
pub(crate) fn optional(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
