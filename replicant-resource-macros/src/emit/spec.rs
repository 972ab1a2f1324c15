//! The declaration as a constant of the contract's vocabulary.
//!
//! Every field of a specification is written, so that a new one cannot be forgotten here; only columns start from
//! what their type promises.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use replicant_checkpoint::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredColumn, DeclaredIdentity, DeclaredMessage,
    DeclaredOrigin, DeclaredResource, DeclaredShape, DeclaredStrategy, Written,
};
use replicant_checkpoint::contract::resource::{
    ActionKind, ActionTenancy, IdentityReach, Marking, OnSchemaChange, OnTruncate, Period,
    Protection, TenancyReach, Visibility,
};
use replicant_checkpoint::contract::role::Role;

use super::code;
use super::promises::Promises;
use crate::declaration::Declaration;
use crate::library::{Library, optional};
use crate::resource::{EmittedAction, EmittedColumn, Lowered};

/// `const SPEC: ResourceSpec = ...;`
pub(super) fn constant(
    declaration: &Declaration,
    lowered: &Lowered,
    promises: &Promises,
    sound: bool,
) -> TokenStream {
    let types = types(declaration);
    let columns = (0..lowered.columns.len())
        .filter(|index| {
            let emitted = lowered.columns.get(*index);
            emitted.is_some_and(|emitted| !emitted.conditional)
        })
        .map(|index| match promises.column(index) {
            Some(constant) => Some(constant.into_token_stream()),
            None => column_at(declaration, lowered, index),
        });
    let actions = (0..lowered.actions.len()).map(|index| match promises.action(index) {
        Some(constant) => Some(constant.into_token_stream()),
        None => action_at(declaration, lowered, index),
    });
    let value = value(
        declaration,
        &lowered.declared,
        sound,
        &quote!(#(#columns),*),
        &quote!(#(#actions),*),
    );
    quote!(const SPEC: #types::ResourceSpec = #value;)
}

/// The specification with these columns and actions.
pub(super) fn value(
    declaration: &Declaration,
    declared: &DeclaredResource,
    sound: bool,
    columns: &TokenStream,
    actions: &TokenStream,
) -> TokenStream {
    let private = declaration.library.at(Span::call_site());
    let types = types(declaration);
    let name = &declaration.item.name;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (rust_name, skips, sensitive) = (&declared.rust_name, &declared.skips, &declared.sensitive);
    let (source_schema, source_table) =
        (text(&declared.source_schema), text(&declared.source_table));
    let (schema, table) = (text(&declared.schema), text(&declared.table));
    let primary_key = &declared.primary_key;
    let shape = shape(declared, &types);
    let tenancy = tenancy(declared, &types);
    let identities = declared
        .identities
        .iter()
        .map(|identity| self::identity(identity, &types));
    let upsert_identity = optional(declared.upsert_identity.as_ref());
    let provenance = provenance(declared, &types);
    let on_truncate = match declared.on_truncate {
        None | Some(OnTruncate::Halt) => quote!(Halt),
        Some(OnTruncate::Mirror) => quote!(Mirror),
        Some(OnTruncate::Close) => quote!(Close),
        Some(OnTruncate::Append) => quote!(Append),
    };
    let on_schema_change = match declared.on_schema_change {
        None | Some(OnSchemaChange::HaltDestructive) => quote!(HaltDestructive),
        Some(OnSchemaChange::Ignore) => quote!(Ignore),
    };
    let broken = !sound;
    quote! {
        #types::ResourceSpec {
            rust_name: #rust_name,
            rust_path: <#name as #private::Resource>::PATH,
            source: #types::TableName { schema: #source_schema, table: #source_table },
            target: #types::TableName { schema: #schema, table: #table },
            shape: #shape,
            tenancy: #tenancy,
            columns: &[#columns],
            skips: &[#(#skips),*],
            sensitive: &[#(#sensitive),*],
            primary_key: &[#(#primary_key),*],
            identities: &[#(#identities),*],
            upsert_identity: #upsert_identity,
            provenance: #provenance,
            on_truncate: #types::OnTruncate::#on_truncate,
            on_schema_change: #types::OnSchemaChange::#on_schema_change,
            actions: &[#actions],
            broken: #broken,
        }
    }
}

/// Where the vocabulary is.
pub(super) fn types(declaration: &Declaration) -> TokenStream {
    let private = declaration.library.at(Span::call_site());
    quote!(#private::contract::resource)
}

/// One column of the specification.
pub(super) fn column_at(
    declaration: &Declaration,
    lowered: &Lowered,
    index: usize,
) -> Option<TokenStream> {
    let (column, emitted) = (
        lowered.declared.columns.get(index)?,
        lowered.columns.get(index)?,
    );
    Some(self::column(column, emitted, &declaration.library))
}

/// One action of the specification.
pub(super) fn action_at(
    declaration: &Declaration,
    lowered: &Lowered,
    index: usize,
) -> Option<TokenStream> {
    let declared = lowered.declared.actions.as_ref()?.get(index)?;
    let emitted = lowered.actions.get(index)?;
    Some(self::action(index, declared, emitted, &declaration.library))
}

fn identity(identity: &DeclaredIdentity, types: &TokenStream) -> TokenStream {
    let (name, keys) = (&identity.name, identity.keys.iter().flatten());
    let predicate = optional(identity.predicate.as_ref());
    let reach = match identity.reach {
        IdentityReach::Tenant => quote!(Tenant),
        IdentityReach::AllTenants => quote!(AllTenants),
    };
    quote! {
        #types::IdentitySpec {
            name: #name,
            keys: &[#(#keys),*],
            reach: #types::IdentityReach::#reach,
            predicate: #predicate,
        }
    }
}

fn shape(declared: &DeclaredResource, types: &TokenStream) -> TokenStream {
    let field = |role: Role| declared.field_of(role).unwrap_or_default().to_owned();
    let optional_field = |role: Role| optional(declared.field_of(role));
    match declared.shape() {
        DeclaredShape::Mirror => quote!(#types::Shape::Mirror),
        DeclaredShape::Auxiliary => quote!(#types::Shape::Auxiliary),
        DeclaredShape::History => {
            let business_key = declared.history.business_key.iter().flatten();
            let (valid_from_lsn, valid_to_lsn) =
                (field(Role::ValidFromLsn), field(Role::ValidToLsn));
            let [valid_from, valid_to, current] =
                [Role::ValidFrom, Role::ValidTo, Role::Current].map(optional_field);
            let close_action = declared.close_action();
            quote! {
                #types::Shape::History(#types::HistorySpec {
                    business_key: &[#(#business_key),*],
                    valid_from_lsn: #valid_from_lsn,
                    valid_to_lsn: #valid_to_lsn,
                    valid_from: #valid_from,
                    valid_to: #valid_to,
                    current: #current,
                    close_action: #close_action,
                })
            }
        }
        DeclaredShape::AppendLog => {
            let (action, identity) = (declared.append_action(), declared.append_identity());
            let [
                source_system,
                source_database,
                slot,
                commit_lsn,
                ordinal,
                operation,
                origin,
                attempt,
            ] = [
                Role::SourceSystem,
                Role::SourceDatabase,
                Role::Slot,
                Role::CommitLsn,
                Role::Ordinal,
                Role::Operation,
                Role::Origin,
                Role::Attempt,
            ]
            .map(field);
            let [
                unchanged,
                commit_timestamp,
                xid,
                message_prefix,
                message_content,
            ] = [
                Role::Unchanged,
                Role::CommitTimestamp,
                Role::Xid,
                Role::MessagePrefix,
                Role::MessageContent,
            ]
            .map(optional_field);
            quote! {
                #types::Shape::AppendLog(#types::AppendSpec {
                    action: #action,
                    identity: #identity,
                    source_system: #source_system,
                    source_database: #source_database,
                    slot: #slot,
                    commit_lsn: #commit_lsn,
                    ordinal: #ordinal,
                    operation: #operation,
                    origin: #origin,
                    attempt: #attempt,
                    unchanged: #unchanged,
                    commit_timestamp: #commit_timestamp,
                    xid: #xid,
                    message_prefix: #message_prefix,
                    message_content: #message_content,
                })
            }
        }
    }
}

fn tenancy(declared: &DeclaredResource, types: &TokenStream) -> TokenStream {
    let Some(block) = &declared.tenancy.block else {
        return quote!(#types::Tenancy::Untenanted);
    };
    let strategy = match block.strategy {
        Some(DeclaredStrategy::Context) => {
            let schema = block.schema.clone().unwrap_or_default();
            quote!(Context { schema: #schema })
        }
        Some(DeclaredStrategy::Attribute) | None => {
            let attribute = block.attribute.clone().unwrap_or_default();
            quote!(Attribute(#attribute))
        }
    };
    let reach = match block.reach {
        TenancyReach::Scoped => quote!(Scoped),
        TenancyReach::Global => quote!(Global),
    };
    let source = match (&declared.tenancy.attribute, &declared.tenancy.function) {
        (Some(field), _) => Some(quote!(#types::TenantSource::Attribute(#field))),
        (None, Some(function)) => {
            let (path, args) = (&function.path, &function.args);
            Some(quote!(#types::TenantSource::Function { path: #path, args: &[#(#args),*] }))
        }
        (None, None) => None,
    };
    let source = optional(source);
    quote! {
        #types::Tenancy::Tenanted {
            strategy: #types::TenancyStrategy::#strategy,
            reach: #types::TenancyReach::#reach,
            source: #source,
        }
    }
}

fn provenance(declared: &DeclaredResource, types: &TokenStream) -> TokenStream {
    let written = declared.provenance.opted_in == Written::Yes;
    optional(written.then(|| {
        let (mark_action, retire_action) = (declared.mark_action(), declared.retire_action());
        let scopes = optional(declared.provenance.scopes.as_ref());
        quote! {
            #types::ProvenanceSpec {
                mark_action: #mark_action,
                retire_action: #retire_action,
                scopes: #scopes,
            }
        }
    }))
}

/// One call per column, so that a type that is no column is one error, at the type. What was not written is left to
/// the call.
fn column(column: &DeclaredColumn, emitted: &EmittedColumn, library: &Library) -> TokenStream {
    let kind = &emitted.kind;
    let span = kind.span();
    let private = library.at(span);
    let (field, target) = (&column.field, &column.target);
    // Whether a type is sealed is a trait bound: no constant for each column that is not.
    let promise = match column.protection {
        Protection::Plain => quote_spanned!(span=> column),
        Protection::Sealed => quote_spanned!(span=> sealed_column),
    };
    let promised = quote_spanned!(span=> #private::#promise::<#kind>(#field, #target));
    let types = quote_spanned!(span=> #private::contract::resource);
    let mut written = TokenStream::new();
    let mut put = |name: &str, value: TokenStream| {
        let name = Ident::new(name, span);
        written.extend(quote_spanned!(span=> #name: #types::#value,));
    };
    match &column.origin {
        DeclaredOrigin::Source(name) if *name == column.field => {}
        DeclaredOrigin::Source(name) => put("origin", quote_spanned!(span=> Origin::Source(#name))),
        DeclaredOrigin::Before(name) => put("origin", quote_spanned!(span=> Origin::Before(#name))),
        DeclaredOrigin::Destination => put("origin", quote_spanned!(span=> Origin::Destination)),
        DeclaredOrigin::Stamp => put("origin", quote_spanned!(span=> Origin::Stamp)),
        DeclaredOrigin::Action => put("origin", quote_spanned!(span=> Origin::Action)),
    }
    if emitted.lossy {
        put("fidelity", quote_spanned!(span=> Fidelity::Lossy));
    }
    if column.protection == Protection::Sealed {
        put("protection", quote_spanned!(span=> Protection::Sealed));
    }
    if column.visibility == Visibility::Private {
        put("visibility", quote_spanned!(span=> Visibility::Private));
    }
    if let Some(sql_type) = &column.sql_type {
        written.extend(quote_spanned!(span=> sql_type: ::core::option::Option::Some(#sql_type),));
    }
    if written.is_empty() {
        return promised;
    }
    quote_spanned!(span=> #types::ColumnSpec { #written ..#promised })
}

fn action(
    index: usize,
    action: &DeclaredAction,
    emitted: &EmittedAction,
    library: &Library,
) -> TokenStream {
    let private = library.at(Span::call_site());
    let types = quote!(#private::contract::resource);
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
    let visibility = match action.visibility {
        Visibility::Public => quote!(Public),
        Visibility::Private => quote!(Private),
    };
    let tenancy = match action.tenancy {
        ActionTenancy::Enforce => quote!(Enforce),
        ActionTenancy::AllowGlobal => quote!(AllowGlobal),
        ActionTenancy::Bypass => quote!(Bypass),
        ActionTenancy::BypassAll => quote!(BypassAll),
    };
    let marking = match action.marking {
        Marking::Unmarked => quote!(Unmarked),
        Marking::MarkSeen => quote!(MarkSeen),
    };
    let changes = action.changes.iter().enumerate().map(|(entry, name)| {
        let constant = code::change_constant(index, entry);
        quote!(#types::HookSpec { name: #name, participants: #constant.participants() })
    });
    let validations = &action.validations;
    let touches = emitted.touches.iter().map(|path| {
        let (private, resource, span) = (library.at(path.span), path.tokens(), path.span);
        quote_spanned!(span=> <#resource as #private::Resource>::PATH)
    });
    let message = optional(
        action
            .message
            .as_ref()
            .map(|message| self::message(message, &private)),
    );
    quote! {
        #types::ActionSpec {
            kind: #types::ActionKind::#kind,
            name: #name,
            accept: #types::Accept::#accept,
            visibility: #types::Visibility::#visibility,
            tenancy: #types::ActionTenancy::#tenancy,
            marking: #types::Marking::#marking,
            changes: &[#(#changes),*],
            validations: &[#(#validations),*],
            touches: &[#(#touches),*],
            message: #message,
        }
    }
}

fn message(message: &DeclaredMessage, private: &TokenStream) -> TokenStream {
    let retention = period(message.retention.as_deref(), private);
    let effect = optional(message.effect.as_ref());
    quote! {
        #private::contract::resource::MessageSpec {
            retention: #retention,
            effect: #effect,
        }
    }
}

/// A period as a constant. One that is absent or unreadable is reported already; a second stands in for it.
pub(crate) fn period(text: Option<&str>, private: &TokenStream) -> TokenStream {
    let seconds = text.and_then(Period::parse).map_or(1, Period::seconds);
    quote!(#private::period(#seconds))
}
