//! Which values are hard to carry from one server to another? Every type with its extremes, as literals of the type.

use tokio_postgres::Client;

/// In which form a stream of only this type travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the server's binary form, from PostgreSQL 14 on.
    Binary,
    /// As the server's text: one such column turns the whole stream to text.
    Text,
}
use Form::{Binary, Text};

/// A type, the first release that has it, and literals of it.
#[derive(Clone, Copy, Debug)]
pub struct Hard {
    /// The type in SQL, found with `public` in the search path.
    pub name: &'static str,
    /// The first major release that has it and these values.
    pub since: u32,
    /// How it travels.
    pub form: Form,
    /// Its literals, unquoted.
    pub values: &'static [&'static str],
}

impl Hard {
    /// The literals as SQL expressions of the type.
    pub fn expressions(&self) -> Vec<String> {
        self.values
            .iter()
            .map(|value| format!("'{}'::{}", value.replace('\'', "''"), self.name))
            .collect()
    }
}

/// What [`HARD`] needs in a database. The second schema repeats a name with other labels.
pub const TYPES: &str = r#"
    create schema other; create schema "Sch.""ema";
    create type mood as enum ('sad', 'it''s', 'Ünï 🦀', '', 'a,b{}"\', 'NULL');
    create type other.mood as enum ('sad', 'other', 'IT''S');
    create type "Sch.""ema"."My ""Ty.pe" as enum ('x', 'X', ' x ');
    create domain amount as numeric(12,3);
    create domain money_like as amount check (value > -1000000);
    create domain word as text;
    create domain feeling as mood;
    create domain numbers as integer[];
    create type pair as (a integer, b text);
    create type nested as (p pair, list text[], n numeric, "Qu""oted" mood);
    create type textrange as range (subtype = text);"#;

/// Extensions whose types are tried where the server has them.
pub const EXTENSIONS: &[&str] = &["citext", "hstore", "ltree", "cube", "isn", "seg"];

const fn hard(name: &'static str, since: u32, form: Form, values: &'static [&'static str]) -> Hard {
    Hard {
        name,
        since,
        form,
        values,
    }
}

/// The types of [`HARD`] and of installed [`EXTENSIONS`] that this server knows and can read.
///
/// # Panics
/// When the catalog cannot be read.
pub async fn known(client: &Client) -> Vec<Hard> {
    let version: i32 = client
        .query_one("select current_setting('server_version_num')::int", &[])
        .await
        .unwrap()
        .get(0);
    let mut known = Vec::new();
    for one in HARD.iter().chain(EXTENDED) {
        if i64::from(one.since) > i64::from(version / 10_000) {
            continue;
        }
        let probe = one.expressions().swap_remove(0);
        match client.simple_query(&format!("select {probe}")).await {
            Ok(_) => known.push(*one),
            // An extension that is not installed, or a server built without libxml.
            Err(refused) => {
                let code = refused.code().map(|code| code.code().to_owned());
                assert!(
                    matches!(code.as_deref(), Some("42704" | "0A000")),
                    "{}: {refused:?}",
                    one.name
                );
            }
        }
    }
    known
}

/// [`TYPES`] and every available extension, in schema `public`.
///
/// # Panics
/// When the server refuses them.
pub async fn create_types(client: &Client) {
    client.batch_execute(TYPES).await.unwrap();
    for extension in EXTENSIONS {
        let sql = "select exists (select from pg_available_extensions where name = $1)";
        let available: bool = client.query_one(sql, &[extension]).await.unwrap().get(0);
        if available {
            let sql = format!("create extension {extension}");
            client.batch_execute(&sql).await.unwrap();
        }
    }
}

/// Types of every server.
#[rustfmt::skip]
pub const HARD: &[Hard] = &[
    hard("smallint", 12, Binary, &["-32768", "32767", "0"]),
    hard("integer", 12, Binary, &["-2147483648", "2147483647", "0"]),
    hard("bigint", 12, Binary, &["-9223372036854775808", "9223372036854775807", "9007199254740993"]),
    hard("oid", 12, Binary, &["0", "2147483648", "4294967295"]),
    hard("xid", 12, Text, &["0", "4294967295"]),
    hard("cid", 12, Text, &["0", "4294967295"]),
    hard("xid8", 13, Text, &["0", "18446744073709551615"]),
    hard("tid", 12, Text, &["(0,1)", "(4294967295,65535)"]),
    hard("real", 12, Binary, &["NaN", "Infinity", "-Infinity", "-0", "1.1", "3.4028235e38", "1e-45", "16777217"]),
    hard("double precision", 12, Binary, &["NaN", "Infinity", "-Infinity", "-0", "5e-324", "1.7976931348623157e308",
        "0.30000000000000004", "-216237.00000035969"]),
    hard("numeric", 12, Binary, &["NaN", "0", "0.000", "1.10", "1e100", "-1e-100", "1e1000",
        "12345678901234567890.123456789012345678901234567890"]),
    hard("numeric", 14, Binary, &["Infinity", "-Infinity"]),
    hard("numeric(10,2)", 12, Binary, &["NaN", "-99999999.99", "0.00"]),
    hard("numeric(3,-2)", 15, Binary, &["12300", "-99900"]),
    hard("numeric(2,5)", 15, Binary, &["0.00099", "-0.00001"]),
    hard("money", 12, Text, &["-92233720368547758.08", "92233720368547758.07", "0", "1234.56"]),
    hard("boolean", 12, Binary, &["t", "f"]),
    hard("\"char\"", 12, Binary, &["", "a", "'", "\\"]),
    hard("\"char\"", 16, Binary, &["\\303", "\\377"]),
    hard("name", 12, Binary, &["", "it's", "ünï🦀",
        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"]),
    hard("char(5)", 12, Binary, &["", "a", "ab", "ünï🦀", "a'\\\""]),
    hard("bpchar", 12, Binary, &["", "a  ", "a"]),
    hard("varchar", 12, Binary, &["", " ", "a "]),
    hard("varchar(5)", 12, Binary, &["", "ünï🦀!", "a    "]),
    hard("text", 12, Binary, &["", " ", "NULL", "\\N", "it's", "its'", "\"q\"", "back\\slash", "\\x41", "\\\\",
        "{}", "a,b", "tab\t nl\n cr\r bell\u{7} \u{1}\u{1f}\u{7f}\u{85}", "ünï", "𝄞🦀", "e\u{301}", "\u{feff}bom",
        "\u{202e}rtl", "sixteen bytes ok", "\u{2028}", "$1", "%s"]),
    hard("bytea", 12, Binary, &["", "\\x00", "\\xdeadbeef00ff5c27", "\\x5c7834315c30", "\\xc3", "\\x00000000"]),
    hard("date", 12, Binary, &["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "1969-12-31",
        "2000-02-29"]),
    hard("time", 12, Binary, &["24:00:00", "00:00:00", "23:59:59.999999"]),
    hard("time(0)", 12, Binary, &["24:00:00", "12:34:56"]),
    hard("timetz", 12, Binary, &["24:00:00+15:59:59", "12:34:56.789+05:30", "00:00:00-15:59", "00:00:00.000001+00"]),
    hard("timestamp", 12, Binary, &["infinity", "-infinity", "4713-01-01 00:00:00 BC",
        "294276-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", "0001-12-31 23:59:59 BC"]),
    hard("timestamp(3)", 12, Binary, &["infinity", "2024-02-29 23:59:59.999"]),
    hard("timestamptz", 12, Binary, &["infinity", "-infinity", "4713-01-01 00:00:00+00 BC",
        "294276-12-31 23:59:59.999999+00", "1883-11-18 12:00:00.000001-05", "2024-03-31 01:30:00+01"]),
    hard("timestamptz(0)", 12, Binary, &["-infinity", "2024-10-27 02:30:00+02"]),
    hard("interval", 12, Binary, &["1 year 2 mons -3 days 04:05:06.7", "-00:00:00.000001", "178000000 years",
        "-178000000 years", "0", "-1 year +2 days -00:00:01", "1 mon -1 day", "-1 mon 1 day 00:00:01",
        "-2147483648 mons", "2147483647 days"]),
    hard("interval", 15, Binary, &["-2562047788:00:54.775807"]),
    hard("interval", 17, Binary, &["infinity", "-infinity"]),
    hard("interval(2)", 12, Binary, &["00:00:00.12", "-1 mon"]),
    hard("interval day to minute", 12, Binary, &["3 days 04:05:00", "-1 day 00:01:00"]),
    hard("uuid", 12, Binary, &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    hard("json", 12, Binary, &["null", "\"x\"", " { \"b\" : 1.10,\n\"a\":2, \"b\":3 } ", "12345678901234567890123",
        "\"\\u0000\"", "\"\\ud834\\udd1e\"", "[]", "1E+2", "\"it's \\\\ \\\" \""]),
    hard("jsonb", 12, Binary, &["null", "\"x\"", "9007199254740993", "12345678901234567890123", "1.10", "1e400",
        "{\"b\": 1, \"a\": [2, {\"c\": null}], \"b\": 3}", "\"it's \\\\ \\\" \\n 🦀\"", "{}", "[[], {}]", "0.1e-20"]),
    hard("jsonpath", 12, Text, &["$.a[*] ? (@ > 1 && @.\"b c\" == \"it's\")", "strict $.x"]),
    hard("xml", 12, Text, &["<a>é &lt; 🦀</a>", "", "only text", "<a/><b/>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>",
        "<?xml version=\"1.1\" standalone=\"yes\"?><a b=\"it's\"/>"]),
    hard("bit(1)", 12, Binary, &["0", "1"]),
    hard("bit(70)", 12, Binary, &["1111111111111111111111111111111111111111111111111111111111111111111111",
        "0000000000000000000000000000000000000000000000000000000000000000000001"]),
    hard("bit varying", 12, Binary, &["", "1",
        "010101010101010101010101010101010101010101010101010101010101010101010"]),
    hard("bit varying(9)", 12, Binary, &["", "000000001"]),
    hard("inet", 12, Binary, &["10.0.0.1", "10.0.0.1/8", "::1", "2001:db8::1/32", "0.0.0.0/0", "::ffff:1.2.3.4"]),
    hard("cidr", 12, Binary, &["10.0.0.0/8", "10.0.0.1/32", "2001:db8::/32", "::/0"]),
    hard("macaddr", 12, Binary, &["08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff"]),
    hard("macaddr8", 12, Binary, &["08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:00"]),
    hard("point", 12, Binary, &["(NaN,Infinity)", "(-0,1e-300)", "(0.1,0.30000000000000004)"]),
    hard("line", 12, Binary, &["{1,-1,0}", "{0.1,0.2,0.30000000000000004}"]),
    hard("lseg", 12, Binary, &["[(0,0),(1,1.1)]", "[(-0,0),(Infinity,1)]"]),
    hard("box", 12, Binary, &["(2,2),(1,1)", "(0.1,0.2),(-0.1,-0.2)"]),
    hard("path", 12, Binary, &["[(0,0),(1,1.1)]", "((0,0),(1,1.1))"]),
    hard("polygon", 12, Binary, &["((0,0),(1,1),(2,0.1))", "((1,1))"]),
    hard("circle", 12, Binary, &["<(1,2),0>", "<(0.1,0.2),0.30000000000000004>"]),
    hard("tsvector", 12, Text, &["'b c':2 'it''s':3A,4B 'back\\\\slash':1 ünï", "", "a:16383"]),
    hard("tsquery", 12, Text, &["'a' & !( 'b''s' | 'c' ) <2> 'd e':*AB", "", "!a"]),
    hard("pg_lsn", 12, Binary, &["0/0", "FFFFFFFF/FFFFFFFF", "0/1"]),
    hard("txid_snapshot", 12, Text, &["10:20:10,14,15", "1:1:"]),
    hard("pg_snapshot", 13, Text, &["10:20:10,14,15", "1:1:"]),
    hard("int4range", 12, Text, &["empty", "[1,5)", "(,5)", "[1,)", "(,)"]),
    hard("int8range", 12, Text, &["[-9223372036854775808,9223372036854775807)", "empty"]),
    hard("numrange", 12, Text, &["[1.10,2.0]", "(1e-50,)", "[NaN,NaN]"]),
    hard("tsrange", 12, Text, &["[\"0044-03-15 00:00:00 BC\",infinity]", "[-infinity,\"2024-01-01 24:00:00\")"]),
    hard("tstzrange", 12, Text, &["[\"2024-03-31 01:30:00+01\",)", "empty"]),
    hard("daterange", 12, Text, &["[2020-01-01,infinity)", "(,2020-02-29)"]),
    hard("int4multirange", 14, Text, &["{}", "{[1,3),[5,7)}", "{(,)}"]),
    hard("nummultirange", 14, Text, &["{[1.10,2.0],(3,)}"]),
    hard("tstzmultirange", 14, Text, &["{[\"2024-03-31 01:30:00+01\",)}", "{}"]),
    hard("textrange", 12, Text, &["[\"a,b\",\"c\\\"d\\\\\"]", "[\"\",a)", "[\"it's\",)", "empty"]),
    hard("int2vector", 12, Text, &["1 -2 3", ""]),
    hard("oidvector", 12, Text, &["1 4294967295", ""]),
    hard("regtype", 12, Text, &["integer", "character varying", "0"]),
    hard("regclass", 12, Text, &["pg_catalog.pg_class", "pg_catalog.pg_type"]),
    hard("refcursor", 12, Text, &["it's", ""]),
    hard("mood", 12, Binary, &["sad", "it's", "Ünï 🦀", "", "a,b{}\"\\", "NULL"]),
    hard("other.mood", 12, Binary, &["other", "IT'S"]),
    hard("\"Sch.\"\"ema\".\"My \"\"Ty.pe\"", 12, Binary, &["x", "X", " x "]),
    hard("amount", 12, Binary, &["1.500", "-123456789.999", "NaN"]),
    hard("money_like", 12, Binary, &["1.500", "-999999.999"]),
    hard("word", 12, Binary, &["", "it's \\ 🦀"]),
    hard("feeling", 12, Binary, &["it's", ""]),
    hard("numbers", 12, Text, &["{}", "{{1,NULL},{3,4}}", "[-2:-1]={1,2}"]),
    hard("pair", 12, Text, &["(,)", "(1,\"x, \"\"y\"\"\")", "(1,\"\")", "(-1,\"back\\\\slash, it's 🦀\")", "(,NULL)"]),
    hard("nested", 12, Text, &["(,,,)",
        "(\"(1,\"\"a\"\"\"\"b,\"\")\",\"{NULL,\"\"NULL\"\",\"\"x y\"\",\"\"it's\"\"}\",NaN,\"it's\")"]),
];

/// Types of [`EXTENSIONS`].
#[rustfmt::skip]
pub const EXTENDED: &[Hard] = &[
    hard("citext", 12, Text, &["MiXed", "", "it's Ü"]),
    hard("hstore", 12, Text, &["", "\"a\"=>NULL, \"b c\"=>\"it's \\\"q\\\" \\\\\", \"\"=>\"NULL\""]),
    hard("ltree", 12, Text, &["", "a.b_c.D9"]),
    hard("lquery", 12, Text, &["a.*{1,2}.!b@|c%*"]),
    hard("cube", 12, Text, &["(1, 2),(3, 0.30000000000000004)", "(1)", "(-0, 1e-300)"]),
    hard("isbn13", 12, Text, &["978-0-393-04002-9"]),
    hard("seg", 12, Text, &["1.50 .. 2.5", "<3", "1.0(+-)0.1"]),
];
