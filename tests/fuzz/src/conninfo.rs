//! What must hold for any connection string, whatever service and password files surround it.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use replicant_transport::connect::{
    ConnectOptions, Environment, FileAccess, FileLookup, SecretString,
};
use replicant_transport::reason::Reason;

use crate::generate::CANARY;
use crate::sequence;

/// A connection string, a service file and a password file, cut from one input.
struct Surroundings<'i> {
    service_file: &'i [u8],
    password_file: &'i [u8],
}

impl Environment for Surroundings<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let value = match name {
            "PGSERVICEFILE" => "services",
            "PGPASSFILE" => "passwords",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn file(&self, path: &Path) -> FileLookup {
        let content = match path.to_str() {
            Some("services") => self.service_file,
            Some("passwords") => self.password_file,
            _ => return FileLookup::Absent,
        };
        FileLookup::Found {
            content: content.to_vec(),
            access: FileAccess::OwnerOnly,
        }
    }

    fn user_name(&self) -> Option<String> {
        Some("fuzz".to_owned())
    }
}

/// A connection string is understood or refused by its own reason, the same every time, and no password is printed.
pub(crate) fn conninfo(input: &[u8]) {
    let mut parts = sequence::split(input);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let surroundings = Surroundings {
        service_file: parts.next().unwrap_or_default(),
        password_file: parts.next().unwrap_or_default(),
    };
    let told = outcome(&text, &surroundings);
    assert_eq!(outcome(&text, &surroundings), told, "another outcome");

    let secret = format!("{CANARY}{}", text.replace('\0', ""));
    let quoted = secret.replace('\\', "\\\\").replace('\'', "\\'");
    let printed = outcome(&format!("password='{quoted}' host=h"), &surroundings);
    assert!(!printed.contains(CANARY), "a password is printed");
    let encoded: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let printed = outcome(&format!("postgres://u:{encoded}@h/d"), &surroundings);
    assert!(!printed.contains(CANARY), "a password is printed");
    if let Ok(options) = ConnectOptions::parse(&text, &surroundings) {
        let options = options.with_password(&SecretString::from(CANARY));
        assert!(
            text.contains(CANARY) || !format!("{options:?}").contains(CANARY),
            "a password is printed"
        );
    }
}

/// What somebody may see of it.
fn outcome(text: &str, surroundings: &Surroundings<'_>) -> String {
    match ConnectOptions::parse(text, surroundings) {
        Ok(options) => format!("{options:?}"),
        Err(error) => {
            assert!(
                matches!(
                    error.reason,
                    Reason::ConfigInvalid | Reason::CredentialsFileUnreadable
                ),
                "another reason"
            );
            format!("{error} {error:?}")
        }
    }
}

/// Strings of both forms over known and unknown keywords, with files that fit them.
pub(crate) fn valid() -> BoxedStrategy<Vec<u8>> {
    let keyword = prop::sample::select(vec![
        "host",
        "hostaddr",
        "port",
        "dbname",
        "user",
        "password",
        "sslmode",
        "service",
        "options",
        "application_name",
        "connect_timeout",
        "keepalives_idle",
        "target_session_attrs",
        "channel_binding",
        "require_auth",
        "sslrootcert",
        "load_balance_hosts",
        "unknown",
    ]);
    let value = prop_oneof![
        "[a-z0-9,/:.]{0,12}",
        "'[a-z \\\\]{0,8}'",
        Just("require".to_owned()),
        Just("5432".to_owned()),
        Just("shop".to_owned()),
    ];
    let pair = (keyword, value).prop_map(|(keyword, value)| format!("{keyword}={value}"));
    let pairs = vec(pair.boxed(), 0..6).boxed();
    let uri = (
        "([a-z%0-9]{0,6}(:[a-z%0-9]{0,6})?@)?",
        "(\\[::1\\]|[a-z,.]{0,8})(:[0-9]{0,5})?",
        "(/[a-z%]{0,6})?",
        pairs.clone(),
    )
        .prop_map(|(user, host, database, pairs)| {
            format!("postgres://{user}{host}{database}?{}", pairs.join("&"))
        });
    let text = prop_oneof![pairs.clone().prop_map(|pairs| pairs.join(" ")), uri];
    let service = pairs.prop_map(|pairs| format!("[shop]\n{}\n[other]\n", pairs.join("\n")));
    let password = "([a-z*]{1,4}:){4}[a-z\\\\:]{0,8}\n";
    (text, service, password)
        .prop_map(|(text, service, password)| {
            sequence::join(&[text, service, password].map(String::into_bytes))
        })
        .boxed()
}
