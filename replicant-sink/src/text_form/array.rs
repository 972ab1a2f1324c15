//! Arrays of one dimension whose first element has the number one: all that a `Vec` can hold. Source: PostgreSQL
//! documentation, "Array Input and Output Syntax".
//!
//! Elements are parted by commas, as those of every built-in type but `box` are; a field for `box[]` is a `PgText`.

use std::iter::Peekable;
use std::str::Chars;

use super::NotNull;
use crate::promises::Scalar;

impl<T: NotNull + Scalar> NotNull for Vec<T> {
    fn parse(text: &str) -> Option<Self> {
        let elements = elements(text)?.into_iter();
        elements.map(|element| T::parse(&element?)).collect()
    }

    fn print(&self) -> String {
        array(self.iter().map(|element| Some(element.print())))
    }
}

/// An array whose elements may be NULL.
impl<T: NotNull + Scalar> NotNull for Vec<Option<T>> {
    fn parse(text: &str) -> Option<Self> {
        let elements = elements(text)?.into_iter();
        let parsed = elements.map(|element| match element {
            None => Some(None),
            Some(text) => T::parse(&text).map(Some),
        });
        parsed.collect()
    }

    fn print(&self) -> String {
        array(
            self.iter()
                .map(|element| element.as_ref().map(NotNull::print)),
        )
    }
}

/// The elements of an array, `None` for NULL. Bounds (`[0:1]={...}`) and further dimensions are refused: a `Vec`
/// would lose them.
fn elements(text: &str) -> Option<Vec<Option<String>>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    if inside.is_empty() {
        return Some(elements);
    }
    let mut rest = inside.chars().peekable();
    loop {
        elements.push(match rest.next_if_eq(&'"') {
            Some(_) => Some(quoted(&mut rest)?),
            None => bare(&mut rest)?,
        });
        match rest.next() {
            None => return Some(elements),
            Some(',') => {}
            Some(_) => return None,
        }
    }
}

/// The rest of an element in quotes.
fn quoted(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(rest.next()?),
            letter => text.push(letter),
        }
    }
}

/// An element without quotes; a bare NULL is no text.
fn bare(rest: &mut Peekable<Chars<'_>>) -> Option<Option<String>> {
    let mut text = String::new();
    while let Some(letter) = rest.next_if(|letter| *letter != ',') {
        if matches!(letter, '{' | '}' | '"' | '\\') {
            return None;
        }
        text.push(letter);
    }
    match text.as_str() {
        "" => None,
        "NULL" => Some(None),
        _ => Some(Some(text)),
    }
}

/// Every element in quotes: what needs them depends on the type.
fn array(elements: impl Iterator<Item = Option<String>>) -> String {
    let mut text = String::from("{");
    for (index, element) in elements.enumerate() {
        if index > 0 {
            text.push(',');
        }
        let Some(element) = element else {
            text.push_str("NULL");
            continue;
        };
        text.push('"');
        for letter in element.chars() {
            if matches!(letter, '"' | '\\') {
                text.push('\\');
            }
            text.push(letter);
        }
        text.push('"');
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::super::TextForm;
    use super::super::tests::same;
    use crate::fixture::connect;
    use crate::promises::PgText;

    #[test]
    fn an_array_is_read_and_written_with_its_quotes_and_its_nulls() {
        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|one| (*one).to_owned())
                .collect::<Vec<_>>()
        };
        same(Some("{}"), Vec::<i64>::new());
        same(Some("{1,-2}"), vec![1_i32, -2]);
        same(
            Some(r#"{a,"","b c","NULL","d\"e","f\\g","h,i","{j}"}"#),
            texts(&["a", "", "b c", "NULL", "d\"e", "f\\g", "h,i", "{j}"]),
        );
        same(Some("{t,NULL,f}"), vec![Some(true), None, Some(false)]);
        same(Some(r#"{"\\x00ff","\\x"}"#), vec![vec![0_u8, 255], vec![]]);
        same(Some(r#"{"(1,2)"}"#), vec![PgText::new("(1,2)")]);
        same(None, None::<Vec<i16>>);
        same(Some("{NULL}"), Some(vec![None::<i16>]));
    }

    #[test]
    fn what_a_vec_cannot_hold_is_no_value_of_it() {
        for text in [
            "{{1,2},{3,4}}",
            "[0:1]={1,2}",
            "{NULL}",
            "{1,}",
            "{1",
            "1}",
            "",
            "{\"1}",
            "{\"1\"2}",
            "{1,40000}",
        ] {
            assert_eq!(Vec::<i16>::read(Some(text)), None, "{text}");
        }
        assert_eq!(Vec::<i16>::read(None), None);
    }

    #[tokio::test]
    async fn the_server_prints_what_is_read_and_reads_what_is_printed() {
        let client = connect().await;
        let hard = [
            "", " ", "a b", "NULL", "null", "\"", "\\", "\\\"", ",", ";", "{", "}", "{}", "\t\n",
            "ä𝄞", "'",
        ];
        let mut array: Vec<Option<String>> = hard.iter().map(|one| Some((*one).into())).collect();
        array.push(None);
        let printed = array.write().unwrap();
        let row = client
            .query_one(
                "select ($1::pg_catalog.text)::pg_catalog.text[]::pg_catalog.text, \
                        pg_catalog.array_length(($1::pg_catalog.text)::pg_catalog.text[], 1)",
                &[&printed],
            )
            .await
            .unwrap();
        assert_eq!(TextForm::read(Some(row.get::<_, &str>(0))), Some(array));
        assert_eq!(row.get::<_, i32>(1), 17);

        let numbers = vec![f64::MIN, -0.0, f64::INFINITY, 1e-300];
        let row = client
            .query_one(
                "select ($1::pg_catalog.text)::pg_catalog.float8[]::pg_catalog.text",
                &[&numbers.write()],
            )
            .await
            .unwrap();
        assert_eq!(TextForm::read(Some(row.get::<_, &str>(0))), Some(numbers));

        let bytes = vec![vec![0_u8, 92, 34], Vec::new()];
        let row = client
            .query_one(
                "select ($1::pg_catalog.text)::pg_catalog.bytea[]::pg_catalog.text",
                &[&bytes.write()],
            )
            .await
            .unwrap();
        assert_eq!(TextForm::read(Some(row.get::<_, &str>(0))), Some(bytes));
    }
}
