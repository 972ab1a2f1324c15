//! How does a fact speak of names? Each in backticks, the legal ones listed or the one that was probably meant.

use crate::contract::declared::DeclaredResource;
use crate::contract::nearest::nearest;

/// The field a misspelt name may stand for, or which fields there are: `did you mean ...?`.
pub(super) fn field_meant(declared: &DeclaredResource, name: &str) -> String {
    let fields = declared.columns.iter().map(|column| column.field.as_str());
    meant(name, fields, "field")
}

/// What a misspelt name may stand for, or which legal ones there are.
pub(super) fn meant<'a>(
    name: &str,
    legal: impl Iterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    if let Some(nearest) = nearest(name, legal.clone()) {
        return format!("did you mean `{nearest}`?");
    }
    let legal: Vec<&str> = legal.collect();
    match legal.as_slice() {
        [] => format!("there is no {what}"),
        [only] => format!("the only {what} is `{only}`"),
        several => format!("there are {}", listed(several)),
    }
}

/// `a, b and c`, each in backticks, shortened after twelve.
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("`{name}`"))
        .collect();
    match (names.len().saturating_sub(12), quoted.split_last()) {
        (0, Some((last, []))) => last.clone(),
        (0, Some((last, rest))) => format!("{} and {last}", rest.join(", ")),
        (0, None) => String::new(),
        (more, _) => format!("{} and {more} more", quoted.join(", ")),
    }
}

/// A name fit for one line of a message.
pub(super) fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(70).flat_map(char::escape_debug).collect();
    if name.chars().count() > 70 {
        text.push('…');
    }
    text
}
