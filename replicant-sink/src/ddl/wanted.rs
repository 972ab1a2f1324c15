//! What does a whole sink ask of its destination?

use replicant_checkpoint::contract::resource::{ColumnSpec, ResourceSpec};
use replicant_checkpoint::contract::sink::{SinkKind, SinkSpec};
use replicant_checkpoint::store::Store;
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};

use super::model::{CheckpointWanted, Claims, Declared, MadeBy, Table};
use super::table::{self, Unsaid};
use crate::admission;
use crate::error::Error;
use crate::reason::Reason;

/// Everything that the sink asks for, tables sorted by name.
///
/// A table that `recorded` knows keeps its maker. One that is new is made by `new_tables`, or by migrations if the
/// tables of this sink are recorded to be made by them.
///
/// # Errors
/// Every mistake at once: `declaration_invalid` and the like when the declaration breaks its rules;
/// `sql_type_required` for a field whose type tells no SQL type.
pub fn wanted(
    spec: &SinkSpec,
    new_tables: MadeBy,
    recorded: Option<&Declared>,
) -> Result<Declared, Vec<Error>> {
    let mut mistakes = Vec::new();
    admission::check_declaration(spec, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let new_tables = match (new_tables, recorded.map(|declared| declared.new_tables)) {
        (MadeBy::Host, None | Some(MadeBy::Host)) => MadeBy::Host,
        (MadeBy::Migrations, _) | (_, Some(MadeBy::Migrations)) => MadeBy::Migrations,
    };
    let mut tables: Vec<Table> = Vec::new();
    for resource in spec.resources() {
        let known = recorded.and_then(|declared| {
            let mut tables = declared.tables.iter();
            tables.find(|table| is_target(resource, table))
        });
        let made_by = known.map_or(new_tables, |table| table.made_by);
        match table::table(resource, made_by, &table::declared) {
            Ok(table) => tables.push(table),
            Err(unsaid) => mistakes.push(mistake(resource, unsaid)),
        }
    }
    let checkpoint = checkpoint(spec);
    tables.sort_by(|one, other| (one.home, &one.name).cmp(&(other.home, &other.name)));
    match checkpoint {
        Ok(checkpoint) if mistakes.is_empty() => Ok(Declared {
            checkpoint,
            new_tables,
            tables,
        }),
        Ok(_) => Err(mistakes),
        Err(error) => {
            mistakes.push(error);
            Err(mistakes)
        }
    }
}

fn is_target(resource: &ResourceSpec, table: &Table) -> bool {
    let name = table::name(resource);
    name.is_some_and(|(home, name)| home == table.home && name == table.name)
}

/// A claim is what makes the effect of a message happen once. The events of a log are told apart by their identity.
fn claims(spec: &SinkSpec) -> Claims {
    let mut actions = spec.resources().flat_map(|resource| resource.actions);
    let claimed = actions.any(|action| action.message.is_some())
        || (spec.kind == SinkKind::StateMirror && !spec.message_routes.is_empty());
    match claimed {
        true => Claims::Kept,
        false => Claims::None,
    }
}

fn checkpoint(spec: &SinkSpec) -> Result<CheckpointWanted, Error> {
    let name = |text| {
        let site = || Site::none().fact("the checkpoint's schema or role is no name");
        Ident::new(text).map_err(|_| Error::new(Reason::DeclarationInvalid, site()))
    };
    Ok(CheckpointWanted {
        schema: name(spec.checkpoint.schema)?,
        select_grant: spec.checkpoint.select_grant.map(name).transpose()?,
        format: Store::FORMAT,
        claims: claims(spec),
    })
}

fn mistake(resource: &ResourceSpec, unsaid: Unsaid) -> Error {
    let mut site = Site {
        table: QualifiedName::new(resource.target.schema, resource.target.table).ok(),
        ..Site::none()
    };
    let of_column = |column: &ColumnSpec| Ident::new(column.target).ok();
    match unsaid {
        Unsaid::Type(column) => {
            site.column = of_column(column);
            Error::new(Reason::SqlTypeRequired, site)
        }
        Unsaid::Default(column) => {
            site.column = of_column(column);
            let fact =
                "the field is generated: its sql_type has to say how, such as `text default ...`";
            Error::new(Reason::SqlTypeRequired, site.fact(fact))
        }
        Unsaid::Name => {
            let fact = "a declared name is not a PostgreSQL identifier";
            Error::new(Reason::DeclarationInvalid, site.fact(fact))
        }
    }
}
