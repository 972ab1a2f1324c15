//! Has every fact that the sink records a field of its own, which nothing else fills?

use super::list::Rule;
use super::shapes::demand;
use super::violation::{Part, Violation};
use super::wording::field_meant;
use crate::contract::declared::{DeclaredOrigin, DeclaredResource};
use crate::contract::role::Role;

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let filled: Vec<(Role, &str)> = Role::ALL
        .iter()
        .filter_map(|role| Some((*role, declared.field_of(*role)?)))
        .collect();
    for (index, (role, field)) in filled.iter().enumerate() {
        let shared = filled.iter().take(index).find(|(_, other)| other == field);
        if let Some((other, _)) = shared {
            found.push(Violation::new(
                Rule::RoleFieldShared,
                [demand(declared, *role), Part::Role(*other)],
                format!(
                    "`{field}` would hold {} and {}",
                    other.as_str(),
                    role.as_str()
                ),
            ));
            continue;
        }
        match declared.column(field) {
            None => found.push(unknown(declared, *role, field)),
            Some((column, _)) => mapped(declared, *role, column, found),
        }
    }
}

// append_slot_attribute = no_such_field, or append_log without a field `slot_name`
fn unknown(declared: &DeclaredResource, role: Role, field: &str) -> Violation {
    let option = match role.option() {
        Some(option) => format!("`{option} = ...`"),
        None => format!("`{}`, whose fields have fixed names", role.of().option()),
    };
    // A name that nobody wrote is not misspelt.
    let meant = match declared.written(role) {
        Some(_) => format!("; {}", field_meant(declared, field)),
        None => String::new(),
    };
    Violation::new(
        Rule::RoleFieldUnknown,
        [demand(declared, role)],
        format!(
            "`{field}` is to hold {} ({option}) and is no field{meant}",
            role.as_str()
        ),
    )
}

// #[replicant(source = "slot")] slot_name: String, in a log
fn mapped(declared: &DeclaredResource, role: Role, column: usize, found: &mut Vec<Violation>) {
    let Some(spec) = declared.columns.get(column) else {
        return;
    };
    let part = match spec.origin {
        DeclaredOrigin::Stamp => return,
        DeclaredOrigin::Source(_) => Part::ColumnSource(column),
        DeclaredOrigin::Before(_) => Part::ColumnBefore(column),
        DeclaredOrigin::Destination => Part::ColumnGenerated(column),
        DeclaredOrigin::Action => Part::Field(column),
    };
    found.push(Violation::new(
        Rule::RoleFieldMapped,
        [part, Part::Role(role)],
        format!(
            "`{}` holds {}, which the sink records",
            spec.field,
            role.as_str()
        ),
    ));
}
