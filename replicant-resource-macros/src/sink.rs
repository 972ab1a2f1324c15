//! `#[replicant_sink(...)]`: one slot, its domains, what it ignores and its checkpoint.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use replicant_checkpoint::contract::declared::{DeclaredRoute, DeclaredSink};
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::relations;
use replicant_checkpoint::contract::rules::{Part, names};
use replicant_checkpoint::contract::sink::{InitialState, SinkKind};

use crate::declaration::Declaration;
use crate::diagnostics::Diagnostics;
use crate::domain::{once, texts};
use crate::emit::{judged, period};
use crate::grammar;
use crate::item::{Form, Item, Wanted};
use crate::library::optional;
use crate::options::{Options, Route, Value};
use crate::spans::Spans;

/// Expands the attribute, leaving the messages to the caller.
pub(crate) fn expand_into(
    options: TokenStream,
    item: TokenStream,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let read = Declaration::read(Place::Sink, Wanted::Unit, options, item, diagnostics);
    let mut declaration = match read {
        Ok(declaration) => declaration,
        Err(tokens) => return tokens,
    };
    let declared = lower(&declaration.options, &mut declaration.spans);
    let domains = declaration.options.paths("domains");
    if declaration.item.form == Form::Usable {
        let mut violations = names::sink(&declared);
        let domains = texts(domains, &mut declaration.spans, Part::Domain);
        violations.extend(names::domains(&domains));
        diagnostics.report_violations(violations, &declaration.spans);
    }
    emit(&declaration, &declared)
}

/// Reads options into a declaration.
pub(crate) fn lower(options: &Options, spans: &mut Spans) -> DeclaredSink {
    for (option, part) in [
        ("sink_kind", Part::SinkKind),
        ("initial_state", Part::InitialState),
    ] {
        spans.text(part, options, option);
    }
    if let Some(span) = options.span("message_routes") {
        spans.put(Part::MessageRoutes, span);
    }
    let mut message_routes = Vec::new();
    for route in routes(options) {
        let index = message_routes.len();
        spans.put(Part::RoutePrefix(index), route.prefix.span);
        spans.put(Part::RouteResource(index), route.resource.span);
        spans.put(Part::RouteAction(index), route.action.span);
        message_routes.push(DeclaredRoute {
            prefix: route.prefix.text.clone(),
            resource: route.resource.text(),
            action: route.action.text.clone(),
        });
    }
    DeclaredSink {
        slot_name: spans.text(Part::SlotName, options, "slot_name"),
        kind: options
            .name("sink_kind")
            .and_then(|word| match word.text.as_str() {
                "state_mirror" => Some(SinkKind::StateMirror),
                "append_log" => Some(SinkKind::AppendLog),
                _ => None,
            }),
        initial_state: options
            .name("initial_state")
            .and_then(|word| match word.text.as_str() {
                "snapshot" => Some(InitialState::Snapshot),
                "go_forward" => Some(InitialState::GoForward),
                _ => None,
            }),
        ignored_sources: spans.texts(
            Part::IgnoredSource,
            options.names("ignored_sources").unwrap_or_default(),
        ),
        message_routes,
        ignored_message_prefixes: spans.texts(
            Part::IgnoredPrefix,
            options
                .names("ignored_message_prefixes")
                .unwrap_or_default(),
        ),
        recovery_horizon: spans.text(Part::RecoveryHorizon, options, "recovery_horizon"),
    }
}

fn routes(options: &Options) -> impl Iterator<Item = &Route> {
    let routes = options.block("message_routes");
    routes
        .into_iter()
        .flat_map(Options::all)
        .filter_map(|(_, _, value)| match value {
            Value::Route(route) => Some(route),
            _ => None,
        })
}

fn emit(declaration: &Declaration, declared: &DeclaredSink) -> TokenStream {
    let Declaration {
        options,
        item,
        library,
        spans,
    } = declaration;
    let private = library.at(Span::call_site());
    let types = quote!(#private::contract);
    let slot_name = declared.slot_name.clone().unwrap_or_default();
    let kind = match declared.kind {
        None | Some(SinkKind::StateMirror) => quote!(StateMirror),
        Some(SinkKind::AppendLog) => quote!(AppendLog),
    };
    let initial_state = optional(declared.initial_state.map(|state| match state {
        InitialState::Snapshot => quote!(#types::sink::InitialState::Snapshot),
        InitialState::GoForward => quote!(#types::sink::InitialState::GoForward),
    }));
    let paths = options.paths("domains");
    let count = once(paths).count();
    let members = once(paths).map(|path| {
        let (domain, private, span) = (path.tokens(), library.at(path.span), path.span);
        quote_spanned!(span=> #private::members::<#domain>())
    });
    let ignored: Vec<(Span, &str, &str)> = declared
        .ignored_sources
        .iter()
        .enumerate()
        .filter_map(|(index, name)| {
            let (schema, table) = name.split_once('.')?;
            Some((spans.of(Part::IgnoredSource(index)), schema, table))
        })
        .collect();
    let ignored_sources = ignored.iter().map(
        |(_, schema, table)| quote!(#types::resource::TableName { schema: #schema, table: #table }),
    );
    let message_routes = routes(options).map(|route| {
        let (prefix, action) = (&route.prefix.text, &route.action.text);
        let (resource, span) = (route.resource.tokens(), route.resource.span);
        let private = library.at(span);
        let resource = quote_spanned!(span=> <#resource as #private::Resource>::PATH);
        quote! {
            #types::sink::MessageRoute { prefix: #prefix, resource: #resource, action: #action }
        }
    });
    let ignored_message_prefixes = &declared.ignored_message_prefixes;
    let horizon = declared.recovery_horizon.as_deref();
    let recovery_horizon = optional(horizon.map(|text| period(Some(text), &private)));
    let checkpoint = match options.path("checkpoint") {
        Some(path) => {
            let (checkpoint, private, span) = (path.tokens(), library.at(path.span), path.span);
            quote_spanned!(span=> <#checkpoint as #private::Checkpoint>::SPEC)
        }
        None => {
            quote!(#types::sink::CheckpointSpec { schema: "", select_grant: ::core::option::Option::None })
        }
    };
    let rust_name = grammar::unraw(&item.name);
    let implementation = declaration.implementation(
        "SinkDeclaration",
        &quote! {
            const SPEC: #types::sink::SinkSpec = #types::sink::SinkSpec {
                rust_name: #rust_name,
                slot_name: #slot_name,
                kind: #types::sink::SinkKind::#kind,
                initial_state: #initial_state,
                domains: &#private::domain_specs(&__DOMAINS, &[]),
                ignored_sources: &[#(#ignored_sources),*],
                message_routes: &[#(#message_routes),*],
                ignored_message_prefixes: &[#(#ignored_message_prefixes),*],
                recovery_horizon: #recovery_horizon,
                checkpoint: #checkpoint,
            };
            const CODE: &'static [&'static [&'static #private::Code]] =
                &#private::domain_codes(&__DOMAINS, &[]);
        },
    );
    let refusals = match item.form {
        Form::Usable => refusals(declaration, ignored.iter().map(|(span, ..)| *span)),
        Form::Unusable => TokenStream::new(),
    };
    let Item {
        conditions, tokens, ..
    } = item;
    quote! {
        #tokens
        #(#conditions)*
        const _: () = {
            const __DOMAINS: [#private::Members; #count] = [#(#members),*];
            #implementation
            #refusals
        };
    }
}

/// What only the whole sink can tell: one constant per rule and domain or ignored table, at the token of it.
fn refusals(declaration: &Declaration, ignored: impl Iterator<Item = Span>) -> TokenStream {
    let Declaration {
        options,
        library,
        spans,
        ..
    } = declaration;
    let name = &declaration.item.name;
    let private = library.at(Span::call_site());
    let domains: Vec<Span> = once(options.paths("domains"))
        .map(|path| path.span)
        .collect();
    let ignored: Vec<Span> = ignored.collect();
    let routes = routes(options).count();
    let refusals = relations::demanded(domains.len(), ignored.len(), routes)
        .into_iter()
        .map(|(rule, part)| {
            let span = match part {
                Part::Domain(index) => domains.get(index).copied(),
                Part::IgnoredSource(index) => ignored.get(index).copied(),
                _ => None,
            };
            let span = span.unwrap_or_else(|| spans.of(part));
            let private = library.at(span);
            let arguments = judged::arguments(&private, rule, part, span);
            quote_spanned! {span=>
                #[allow(long_running_const_eval)]
                const _: () = #private::contract::relations::refuse(&__SINK, &__INDEX, #arguments);
            }
        });
    quote! {
        // A sink without domains has no relations to judge.
        #[allow(dead_code)]
        const __SINK: #private::contract::sink::SinkSpec = <#name as #private::SinkDeclaration>::SPEC;
        #[allow(dead_code, long_running_const_eval)]
        const __INDEX: #private::contract::relations::Index<{ #private::contract::relations::count(&__SINK) }> =
            #private::contract::relations::Index::new(&__SINK);
        #(#refusals)*
    }
}
