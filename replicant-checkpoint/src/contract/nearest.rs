//! Which legal name did somebody mean? The nearest one, when it is near enough to be a slip.

/// The candidate that a misspelt name most probably stands for: at most one slip (a letter missing, added, wrong or
/// swapped with its neighbour), and one more for every four letters of the candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many slips lie between two names (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, wanted) in to.iter().enumerate() {
            let at =
                |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&above, column) + usize::from(letter != wanted);
            let left_out = at(&above, column + 1) + 1;
            let added = at(&line, column) + 1;
            let mut best = replaced.min(left_out).min(added);
            let swapped = column
                .checked_sub(1)
                .is_some_and(|earlier| previous == Some(wanted) && to.get(earlier) == Some(letter));
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
        previous = Some(letter);
    }
    above.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (from, to, slips) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("amount", "amount", 0),
            ("amuont", "amount", 1),
            ("amont", "amount", 1),
            ("amounts", "amount", 1),
            ("amaunt", "amount", 1),
            ("ca", "abc", 3),
            ("größe", "grösse", 2),
        ] {
            assert_eq!(distance(from, to), slips, "{from} {to}");
        }
    }

    #[test]
    fn only_a_slip_is_guessed() {
        let fields = ["id", "org_id", "amount", "valid_from_lsn"];
        assert_eq!(nearest("amuont", fields), Some("amount"));
        assert_eq!(nearest("valid_form_lns", fields), Some("valid_from_lsn"));
        assert_eq!(nearest("ordid", fields), Some("org_id"));
        assert_eq!(nearest("price", fields), None);
        assert_eq!(nearest("ix", fields), Some("id"));
        assert_eq!(nearest("x", []), None);
    }
}
