//! Whose row is it: `multitenancy(...)`, `tenant_attribute` and `tenant_fn(...)`.

use replicant_checkpoint::contract::declared::{
    DeclaredMultitenancy, DeclaredResource, DeclaredStrategy, DeclaredTenancy, DeclaredTenantFn,
};
use replicant_checkpoint::contract::resource::TenancyReach;
use replicant_checkpoint::contract::rules::Part;

use crate::options::Options;
use crate::path::Path;
use crate::spans::Spans;

/// Reads what was written about tenants, and returns the function that tells them.
pub(super) fn lower(
    options: &Options,
    declared: &mut DeclaredResource,
    spans: &mut Spans,
) -> Option<Path> {
    for (option, part) in [
        ("multitenancy", Part::Multitenancy),
        ("tenant_fn", Part::TenantFunction),
    ] {
        if let Some(span) = options.span(option) {
            spans.put(part, span);
        }
    }
    let function = options.block("tenant_fn");
    let path = function.and_then(|block| block.path("path")).cloned();
    declared.tenancy = DeclaredTenancy {
        block: options
            .block("multitenancy")
            .map(|block| multitenancy(block, spans)),
        attribute: spans.text(Part::TenantAttribute, options, "tenant_attribute"),
        function: function.map(|block| DeclaredTenantFn {
            path: path.as_ref().map(Path::text).unwrap_or_default(),
            args: block
                .names("args")
                .unwrap_or_default()
                .iter()
                .map(|name| name.text.clone())
                .collect(),
        }),
    };
    path
}

fn multitenancy(block: &Options, spans: &mut Spans) -> DeclaredMultitenancy {
    let strategy = block.name("strategy");
    if let Some(word) = strategy {
        spans.put(Part::TenancyStrategy, word.span);
    }
    DeclaredMultitenancy {
        strategy: strategy.and_then(|word| match word.text.as_str() {
            "attribute" => Some(DeclaredStrategy::Attribute),
            "context" => Some(DeclaredStrategy::Context),
            _ => None,
        }),
        attribute: spans.text(Part::TenancyAttribute, block, "attribute"),
        schema: spans.text(Part::TenancySchema, block, "schema"),
        reach: match block.span("global") {
            Some(_) => TenancyReach::Global,
            None => TenancyReach::Scoped,
        },
    }
}
