//! What the compiler gets: the item, the implementation, and the assertions that only it can judge.
//!
//! Generated code names nothing but absolute paths below one versioned module, so it works without a prelude, under
//! any lint level, and does not compile against a library of another version. Every token of a call that may fail
//! carries the span of what caused it, because the compiler underlines from the first token to the last.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use replicant_checkpoint::contract::declared::{DeclaredAccept, DeclaredColumn, DeclaredOrigin};
use replicant_checkpoint::contract::resource::{
    ActionKind, OnSchemaChange, OnTruncate, Visibility,
};

use crate::item::Item;
use crate::options::Options;
use crate::path::Path;
use crate::resource::{EmittedColumn, Lowered};

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

    /// The private module, with this span on every token.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        let root = self.0.at(span);
        let [private, version] = PRIVATE.map(|name| Ident::new(name, span));
        quote_spanned!(span=> #root::#private::#version)
    }
}

/// The item and an empty implementation, for a declaration that could not be read.
pub(crate) fn resource_stub(item: &Item, library: &Library) -> TokenStream {
    let Item {
        name,
        conditions,
        tokens,
        ..
    } = item;
    let (parameters, arguments, bounds) = item.generics.split_for_impl();
    let private = library.at(Span::call_site());
    quote! {
        #tokens
        #(#conditions)*
        #[automatically_derived]
        impl #parameters #private::Resource for #name #arguments #bounds {
            const SPEC: #private::contract::resource::ResourceSpec =
                #private::contract::resource::ResourceSpec::BROKEN;
        }
    }
}

/// The item, its implementation, and one assertion for each field of a key.
pub(crate) fn resource(
    item: &Item,
    lowered: &Lowered,
    library: &Library,
    sound: bool,
) -> TokenStream {
    let Item {
        name,
        conditions,
        tokens,
        ..
    } = item;
    let private = library.at(Span::call_site());
    let types = quote!(#private::contract::resource);
    let declared = &lowered.declared;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (rust_name, skips) = (&declared.rust_name, &declared.skips);
    let (source_schema, source_table) =
        (text(&declared.source_schema), text(&declared.source_table));
    let (schema, table) = (text(&declared.schema), text(&declared.table));
    let primary_key = &declared.primary_key;
    let columns = declared
        .columns
        .iter()
        .zip(&lowered.columns)
        .filter(|(_, emitted)| !emitted.conditional)
        .map(|(column, emitted)| self::column(column, emitted, library));
    let identities = declared.identities.iter().map(|identity| {
        let (name, keys) = (&identity.name, identity.keys.iter().flatten());
        quote!(#types::IdentitySpec::new(#name, &[#(#keys),*]))
    });
    let upsert_identity = optional(declared.upsert_identity.as_ref());
    let on_truncate = match declared.on_truncate {
        Some(OnTruncate::Mirror) => quote!(Mirror),
        Some(OnTruncate::Close) => quote!(Close),
        Some(OnTruncate::Append) => quote!(Append),
        Some(OnTruncate::Halt) | None => quote!(Halt),
    };
    let on_schema_change = match declared.on_schema_change {
        Some(OnSchemaChange::Ignore) => quote!(Ignore),
        Some(OnSchemaChange::HaltDestructive) | None => quote!(HaltDestructive),
    };
    let actions = declared.actions.iter().flatten().map(|action| {
        let kind = match action.kind {
            ActionKind::Read => quote!(Read),
            ActionKind::Create => quote!(Create),
            ActionKind::Update => quote!(Update),
            ActionKind::Destroy => quote!(Destroy),
        };
        let name = optional(action.name.as_ref());
        let accept = match &action.accept {
            DeclaredAccept::All => quote!(All),
            DeclaredAccept::Fields(fields) => quote!(Fields(&[#(#fields),*])),
        };
        quote!(#types::ActionSpec {
            name: #name,
            ..#types::ActionSpec::new(#types::ActionKind::#kind, #types::Accept::#accept)
        })
    });
    let broken = !sound;
    let assertions = key_assertions(item, lowered, library);
    quote! {
        #tokens
        #(#conditions)*
        #[automatically_derived]
        impl #private::Resource for #name {
            const SPEC: #types::ResourceSpec = #types::ResourceSpec {
                rust_name: #rust_name,
                rust_path: ::core::concat!(::core::module_path!(), "::", #rust_name),
                source: #types::TableName { schema: #source_schema, table: #source_table },
                target: #types::TableName { schema: #schema, table: #table },
                columns: &[#(#columns),*],
                skips: &[#(#skips),*],
                primary_key: &[#(#primary_key),*],
                identities: &[#(#identities),*],
                upsert_identity: #upsert_identity,
                on_truncate: #types::OnTruncate::#on_truncate,
                on_schema_change: #types::OnSchemaChange::#on_schema_change,
                actions: &[#(#actions),*],
                broken: #broken,
                ..#types::ResourceSpec::EMPTY
            };
        }
        #assertions
    }
}

/// One call per column, so that a type that is no column is one error, at the type.
fn column(column: &DeclaredColumn, emitted: &EmittedColumn, library: &Library) -> TokenStream {
    let kind = &emitted.kind;
    let span = kind.span();
    let private = library.at(span);
    let types = quote_spanned!(span=> #private::contract::resource);
    let (field, target) = (&column.field, &column.target);
    let origin = match &column.origin {
        DeclaredOrigin::Source(name) => quote_spanned!(span=> Source(#name)),
        DeclaredOrigin::Before(name) => quote_spanned!(span=> Before(#name)),
        DeclaredOrigin::Destination => quote_spanned!(span=> Destination),
        DeclaredOrigin::Stamp => quote_spanned!(span=> Stamp),
        DeclaredOrigin::Action => quote_spanned!(span=> Action),
    };
    let fidelity = Ident::new(if emitted.lossy { "Lossy" } else { "Lossless" }, span);
    let visibility = match column.visibility {
        Visibility::Public => Ident::new("Public", span),
        Visibility::Private => Ident::new("Private", span),
    };
    let sql_type = optional(column.sql_type.as_ref());
    quote_spanned! {span=>
        #private::column::<#kind>(
            #field,
            #types::Origin::#origin,
            #target,
            #types::Fidelity::#fidelity,
            #types::Visibility::#visibility,
            #sql_type,
        )
    }
}

/// `key_nullable`: a free constant over the concrete type, because generic ones are invisible to `cargo check`.
fn key_assertions(item: &Item, lowered: &Lowered, library: &Library) -> TokenStream {
    let Item {
        name, conditions, ..
    } = item;
    let declared = &lowered.declared;
    let identities = declared
        .identities
        .iter()
        .flat_map(|identity| identity.keys.iter().flatten());
    let keys: Vec<&String> = declared.primary_key.iter().chain(identities).collect();
    let emitted = declared
        .columns
        .iter()
        .zip(&lowered.columns)
        .filter(|(_, emitted)| !emitted.conditional);
    emitted
        .enumerate()
        .filter(|(_, (column, _))| keys.contains(&&column.field))
        .map(|(index, (_, emitted))| {
            let span = emitted.kind.span();
            let private = library.at(span);
            let mut name = name.clone();
            name.set_span(span);
            quote_spanned! {span=>
                #(#conditions)*
                const _: () = #private::contract::rules::promises::refuse_nullable_key(
                    &<#name as #private::Resource>::SPEC, #index);
            }
        })
        .collect()
}

/// `Some(text)` or `None`, without a prelude.
pub(crate) fn optional(text: Option<&String>) -> TokenStream {
    match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    }
}
