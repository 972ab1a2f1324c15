//! How do the rows of a declared resource belong to tenants, once its columns are known?

use replicant_checkpoint::contract::resource::{Tenancy, TenancyStrategy, TenantSource};
use replicant_transport::error::Site;

use super::coverage::Mapped;
use crate::error::Error;
use crate::generation::Image;
use crate::hooks::Code;
use crate::reason::Reason;
use crate::scope::{KeptBy, SchemaTemplate, Scope, ToldBy};

/// How rows of this resource belong to tenants; `None` when nothing tells one, so that they are written without regard
/// to any.
///
/// Reports a log in schemas of tenants, and a function that is named and not there.
pub(super) fn of(
    mapped: &Mapped<'_>,
    code: Option<&Code>,
    violations: &mut Vec<Error>,
) -> Option<Scope> {
    let Tenancy::Tenanted {
        strategy,
        source: Some(source),
        ..
    } = mapped.spec.tenancy
    else {
        return None;
    };
    let column = |field: &str| {
        let mut columns = mapped.columns.iter();
        columns.position(|column| column.spec.field == field && column.image != Image::Before)
    };
    let site = || Site::table(&mapped.target);
    let told_by = match source {
        // A column that does not exist was reported where it was looked for.
        TenantSource::Attribute(field) => ToldBy::Column(column(field)?),
        TenantSource::Function { args, .. } => {
            let Some(call) = code.and_then(|code| code.tenant) else {
                let fact = "tenant_fn names a function, and the specification was built without it";
                violations.push(Error::new(Reason::DeclarationInvalid, site().fact(fact)));
                return None;
            };
            ToldBy::Function { call, args }
        }
    };
    let kept_by = match strategy {
        TenancyStrategy::Attribute(field) => KeptBy::Column(column(field)?),
        TenancyStrategy::Context { schema } => {
            let Some(template) = SchemaTemplate::parse(schema) else {
                let fact = "a tenant's schema has no place for the tenant";
                violations.push(Error::new(Reason::DeclarationInvalid, site().fact(fact)));
                return None;
            };
            KeptBy::Schemas(template)
        }
    };
    Some(Scope { told_by, kept_by })
}
