//! What the attribute is on: the struct, its fields, and the item as it goes back to the compiler.
//!
//! The item is always emitted again, without the attributes that are ours, so that one mistake in a declaration does
//! not make every use of the type an error too.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, Generics, Meta, Type, Visibility};

use replicant_checkpoint::contract::rules::Rule;

use crate::diagnostics::Diagnostics;
use crate::grammar::{self, Node};

/// What an attribute needs to be on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// `struct Order { id: i64 }`
    NamedFields,
    /// `struct Shop;`
    Unit,
}

/// The declared type.
pub(crate) struct Item {
    /// The type's name.
    pub(crate) name: Ident,
    /// Who may use it.
    pub(crate) visibility: Visibility,
    /// Its parameters. Empty in a legal declaration.
    pub(crate) generics: Generics,
    /// Its `#[cfg]`s, which generated code must repeat.
    pub(crate) conditions: Vec<Attribute>,
    /// Its fields.
    pub(crate) fields: Vec<Field>,
    /// Whether the rest can be judged at all.
    pub(crate) form: Form,
    /// The item without our attributes.
    pub(crate) tokens: TokenStream,
}

/// Can the declaration be read?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Yes.
    Usable,
    /// No, and that is reported; only a stub can be made.
    Unusable,
}

/// One field and what was written on it.
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) kind: Type,
    pub(crate) options: Vec<Node>,
    /// A field that may not exist cannot be mentioned in generated code.
    pub(crate) conditional: bool,
}

/// Reads an item. `Err` gives the tokens back when it is no type at all.
pub(crate) fn read(
    tokens: TokenStream,
    wanted: Wanted,
    diagnostics: &mut Diagnostics,
) -> Result<Item, TokenStream> {
    let item = match syn::parse2::<syn::Item>(tokens.clone()) {
        Ok(item) => item,
        Err(_) => {
            diagnostics.report(Rule::ItemShape, Span::call_site(), "this is not an item");
            return Err(tokens);
        }
    };
    match item {
        syn::Item::Struct(item) => Ok(read_struct(item, wanted, diagnostics)),
        syn::Item::Enum(mut item) => {
            diagnostics.report(Rule::ItemShape, item.enum_token.span, "this is an enum");
            for variant in &mut item.variants {
                variant
                    .fields
                    .iter_mut()
                    .for_each(|field| field.attrs.retain(|attr| !is_ours(attr)));
            }
            let conditions = own_attributes(&mut item.attrs, diagnostics);
            Ok(unusable(
                item.ident.clone(),
                item.generics.clone(),
                conditions,
                item,
            ))
        }
        syn::Item::Union(mut item) => {
            diagnostics.report(Rule::ItemShape, item.union_token.span, "this is a union");
            item.fields
                .named
                .iter_mut()
                .for_each(|field| field.attrs.retain(|attr| !is_ours(attr)));
            let conditions = own_attributes(&mut item.attrs, diagnostics);
            Ok(unusable(
                item.ident.clone(),
                item.generics.clone(),
                conditions,
                item,
            ))
        }
        other => {
            let first = other.to_token_stream().into_iter().next();
            let span = first.map_or_else(Span::call_site, |token| token.span());
            diagnostics.report(Rule::ItemShape, span, "this is not a struct");
            Err(tokens)
        }
    }
}

fn read_struct(mut item: syn::ItemStruct, wanted: Wanted, diagnostics: &mut Diagnostics) -> Item {
    let conditions = own_attributes(&mut item.attrs, diagnostics);
    let mut form = Form::Usable;
    match (&item.fields, wanted) {
        (Fields::Named(_), Wanted::NamedFields) | (Fields::Unit, Wanted::Unit) => {}
        (fields, Wanted::NamedFields) => {
            let what = match fields {
                Fields::Unnamed(_) => "is a tuple struct",
                Fields::Unit | Fields::Named(_) => "has no fields",
            };
            diagnostics.report(
                Rule::ItemShape,
                item.ident.span(),
                format!("`{}` {what}", item.ident),
            );
            form = Form::Unusable;
        }
        (_, Wanted::Unit) => {
            diagnostics.report(
                Rule::ItemShape,
                item.ident.span(),
                format!("`{}` has fields", item.ident),
            );
            form = Form::Unusable;
        }
    }
    if !item.generics.params.is_empty() {
        let fact = format!("`{}` has generic parameters", item.ident);
        diagnostics.report_at(Rule::ItemGeneric, &item.generics.params, fact);
        form = Form::Unusable;
    }
    let fields = item
        .fields
        .iter_mut()
        .filter_map(|field| read_field(field, wanted, diagnostics))
        .collect();
    // A declaration need not be made by anyone, nor its fields read.
    item.attrs.push(syn::parse_quote!(#[allow(dead_code)]));
    Item {
        name: item.ident.clone(),
        visibility: item.vis.clone(),
        generics: item.generics.clone(),
        conditions,
        fields,
        form,
        tokens: item.into_token_stream(),
    }
}

fn read_field(
    field: &mut syn::Field,
    wanted: Wanted,
    diagnostics: &mut Diagnostics,
) -> Option<Field> {
    let mut options = Vec::new();
    let mut conditional = false;
    for attribute in &field.attrs {
        if is_ours(attribute) {
            match &attribute.meta {
                Meta::List(list) => {
                    options.extend(grammar::parse(list.tokens.clone(), diagnostics))
                }
                Meta::Path(path) => {
                    diagnostics.report_at(Rule::OptionSyntax, path, "no option is written here")
                }
                Meta::NameValue(pair) => {
                    diagnostics.report(
                        Rule::OptionSyntax,
                        pair.eq_token.span(),
                        "`=` is not expected here",
                    );
                }
            }
        } else if wanted == Wanted::NamedFields && is_condition(attribute) {
            conditional = true;
            let name = field
                .ident
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let fact = format!("`{name}` exists only under a condition");
            diagnostics.report_at(Rule::FieldConditional, attribute.path(), fact);
        }
    }
    field.attrs.retain(|attribute| !is_ours(attribute));
    Some(Field {
        name: field.ident.clone()?,
        visibility: field.vis.clone(),
        kind: field.ty.clone(),
        options,
        conditional,
    })
}

/// Removes further declarations from the item, reporting them, and returns its conditions.
fn own_attributes(
    attributes: &mut Vec<Attribute>,
    diagnostics: &mut Diagnostics,
) -> Vec<Attribute> {
    attributes.retain(|attribute| {
        let ours = is_ours(attribute);
        if ours {
            diagnostics.report_at(
                Rule::ItemRepeated,
                attribute.path(),
                "the item is declared already",
            );
        }
        !ours
    });
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .cloned()
        .collect()
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| {
        [
            "replicant",
            "replicant_domain",
            "replicant_checkpoint",
            "replicant_sink",
        ]
        .iter()
        .any(|name| last.ident == name)
    })
}

fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

fn unusable(
    name: Ident,
    generics: Generics,
    conditions: Vec<Attribute>,
    item: impl ToTokens,
) -> Item {
    Item {
        name,
        visibility: Visibility::Inherited,
        generics,
        conditions,
        fields: Vec::new(),
        form: Form::Unusable,
        tokens: item.into_token_stream(),
    }
}
