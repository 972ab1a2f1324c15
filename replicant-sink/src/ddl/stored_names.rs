//! How are names stored in a file? As text, checked again when it is read.

use replicant_transport::ident::{Ident, QualifiedName};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

fn checked<E: Error>(text: &str) -> Result<Ident, E> {
    Ident::new(text).map_err(E::custom)
}

/// One name.
pub(super) mod name {
    use super::*;

    pub(in crate::ddl) fn serialize<S: Serializer>(
        name: &Ident,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        name.as_str().serialize(serializer)
    }

    pub(in crate::ddl) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Ident, D::Error> {
        checked(&String::deserialize(deserializer)?)
    }
}

/// A name or none.
pub(super) mod optional_name {
    use super::*;

    pub(in crate::ddl) fn serialize<S: Serializer>(
        name: &Option<Ident>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        name.as_ref().map(Ident::as_str).serialize(serializer)
    }

    pub(in crate::ddl) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Ident>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.as_deref().map(checked).transpose()
    }
}

/// A list of names.
pub(super) mod names {
    use super::*;

    pub(in crate::ddl) fn serialize<S: Serializer>(
        names: &[Ident],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(names.iter().map(Ident::as_str))
    }

    pub(in crate::ddl) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Ident>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| checked(text)).collect()
    }
}

/// Schema and table; a dot may be part of either.
pub(super) mod qualified {
    use super::*;

    pub(in crate::ddl) fn serialize<S: Serializer>(
        name: &QualifiedName,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        [name.schema.as_str(), name.name.as_str()].serialize(serializer)
    }

    pub(in crate::ddl) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<QualifiedName, D::Error> {
        let [schema, name] = <[String; 2]>::deserialize(deserializer)?;
        QualifiedName::new(&schema, &name).map_err(D::Error::custom)
    }
}
