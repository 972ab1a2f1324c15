//! The unique keys of the destination table: `identity(name, keys(...), all_tenants, where = "...")`.

use replicant_checkpoint::contract::declared::{DeclaredIdentity, DeclaredResource};
use replicant_checkpoint::contract::resource::IdentityReach;
use replicant_checkpoint::contract::rules::Part;

use crate::options::{Options, Value};
use crate::spans::Spans;

pub(super) fn lower(options: &Options, declared: &mut DeclaredResource, spans: &mut Spans) {
    for (option, _, value) in options.all() {
        let ("identity", Value::Block(Some(name), inner)) = (option, value) else {
            continue;
        };
        let index = declared.identities.len();
        spans.put(Part::IdentityName(index), name.span);
        for (option, part) in [
            ("keys", Part::IdentityKeys(index)),
            ("all_tenants", Part::IdentityReach(index)),
        ] {
            if let Some(span) = inner.span(option) {
                spans.put(part, span);
            }
        }
        let identity = DeclaredIdentity {
            name: name.text.clone(),
            keys: inner
                .names("keys")
                .map(|keys| spans.texts(|position| Part::IdentityKey(index, position), keys)),
            reach: match inner.span("all_tenants") {
                Some(_) => IdentityReach::AllTenants,
                None => IdentityReach::Tenant,
            },
            predicate: spans.text(Part::IdentityPredicate(index), inner, "where"),
        };
        declared.identities.push(identity);
    }
}
