//! Which bytes bind SCRAM to a TLS channel: a hash of the server's certificate.
//!
//! RFC 5929, section 4.1 (`tls-server-end-point`): the hash of the certificate's signature algorithm, SHA-256 in place
//! of MD5 and SHA-1. It is read from the algorithm's identifier, never guessed from the kind of key.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use x509_cert::Certificate;
use x509_cert::der::asn1::{Any, ContextSpecific, ObjectIdentifier};
use x509_cert::der::{Decode, SliceReader, TagNumber};
use x509_cert::spki::AlgorithmIdentifierOwned;

const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");

/// The binding for a certificate in DER, or `None` when its signature names no single hash (Ed25519) or one that is
/// not available: then there is no channel binding, and `channel_binding=require` fails.
pub(super) fn tls_server_end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let parsed = Certificate::from_der(certificate).ok()?;
    let signature = parsed.signature_algorithm();
    let algorithm = if signature.oid == RSA_PSS {
        hash_of_pss(signature.parameters.as_ref()?)?
    } else {
        hash_of(signature.oid)?
    };
    Some(digest(algorithm, certificate).as_ref().to_vec())
}

/// The hash inside a signature algorithm, or a hash itself.
fn hash_of(oid: ObjectIdentifier) -> Option<&'static Algorithm> {
    Some(match oid.to_string().as_str() {
        // RSA with MD5, SHA-1, SHA-256; ECDSA with SHA-1, SHA-256; DSA with SHA-1, SHA-256; SHA-1, SHA-256.
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.1"
        | "1.2.840.10045.4.3.2"
        | "1.2.840.10040.4.3"
        | "2.16.840.1.101.3.4.3.2"
        | "1.3.14.3.2.26"
        | "2.16.840.1.101.3.4.2.1" => &SHA256,
        // RSA, ECDSA, and the hash alone.
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" | "2.16.840.1.101.3.4.2.2" => &SHA384,
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" | "2.16.840.1.101.3.4.2.3" => &SHA512,
        _ => return None,
    })
}

/// RSASSA-PSS names its hash in its parameters (RFC 4055, section 3.1); without one it is SHA-1.
fn hash_of_pss(parameters: &Any) -> Option<&'static Algorithm> {
    let mut reader = SliceReader::new(parameters.value()).ok()?;
    let hash =
        ContextSpecific::<AlgorithmIdentifierOwned>::decode_explicit(&mut reader, TagNumber(0))
            .ok()?;
    match hash {
        Some(hash) => hash_of(hash.value.oid),
        None => Some(&SHA256),
    }
}
