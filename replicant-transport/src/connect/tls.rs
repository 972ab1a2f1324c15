//! Whom we trust over TLS: the client configuration, the certificate checks and what a failure means.
//!
//! The cryptography provider is built here and handed over; the process-wide default is never touched, since it
//! belongs to the host program. Source: PostgreSQL documentation, "SSL Support" of libpq.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use x509_cert::der::Decode;

use super::policy::{Negotiation, OwnFile, Roots, Sni, SslMode, TlsPolicy, Versions};
use crate::error::{Error, Site};
use crate::reason::Reason;

/// The protocol name of direct negotiation.
const ALPN: &[u8] = b"postgresql";

/// Makes a TLS stream of a TCP stream.
pub(super) struct TlsClient {
    config: Arc<ClientConfig>,
    policy: TlsPolicy,
}

impl TlsClient {
    /// Reads the certificate files anew, so that a renewed certificate is used from the next connection on.
    ///
    /// # Errors
    /// `tls_file_unusable` naming the option.
    pub(super) fn new(policy: &TlsPolicy) -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: &[&rustls::SupportedProtocolVersion] = match policy.versions {
            Versions::From12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
            Versions::Only12 => &[&rustls::version::TLS12],
            Versions::Only13 => &[&rustls::version::TLS13],
        };
        let verifier = Verifier::new(policy, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|_| Error::from(Reason::TlsFailed))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match own_certificate(policy)? {
            Some((chain, key)) => builder
                .with_client_auth_cert(chain, key)
                .map_err(|_| unusable("sslkey", "not the key of sslcert"))?,
            None => builder.with_no_client_auth(),
        };
        config.enable_sni = policy.sni == Sni::Sent;
        if policy.negotiation == Negotiation::Direct {
            config.alpn_protocols = vec![ALPN.to_vec()];
        }
        Ok(Self {
            config: Arc::new(config),
            policy: policy.clone(),
        })
    }

    /// Shakes hands.
    ///
    /// # Errors
    /// `tls_certificate_untrusted`, `tls_hostname_mismatch`, `tls_failed`, `source_unreachable`.
    pub(super) async fn connect(
        &self,
        stream: TcpStream,
        name: &str,
    ) -> Result<TlsStream<TcpStream>, Error> {
        let name = match ServerName::try_from(name.to_owned()) {
            Ok(name) => name,
            Err(_) if self.policy.mode == SslMode::VerifyFull => {
                return Err(Reason::TlsHostnameMismatch.into());
            }
            // Not a name a certificate could hold; nobody compares it, and an address is never sent as SNI.
            Err(_) => ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()),
        };
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector
            .connect(name, stream)
            .await
            .map_err(|error| reason_of_handshake(&error))?;
        if self.policy.negotiation == Negotiation::Direct
            && stream.get_ref().1.alpn_protocol() != Some(ALPN)
        {
            return Err(Error::new(
                Reason::TlsFailed,
                Site::option("sslnegotiation").fact("no ALPN answer"),
            ));
        }
        Ok(stream)
    }
}

/// Why a handshake failed.
fn reason_of_handshake(error: &io::Error) -> Reason {
    match rustls_error(error) {
        Some(rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => Reason::TlsHostnameMismatch,
        Some(rustls::Error::InvalidCertificate(_)) => Reason::TlsCertificateUntrusted,
        Some(_) => Reason::TlsFailed,
        None => Reason::SourceUnreachable,
    }
}

/// Why a read failed. In TLS 1.3 the server judges our certificate only after our side of the handshake is over.
pub(super) fn reason_of_broken_read(error: &io::Error) -> Reason {
    use AlertDescription as Alert;
    match rustls_error(error) {
        Some(rustls::Error::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnknownCA
            | Alert::CertificateUnknown
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::UnsupportedCertificate
            | Alert::AccessDenied
            | Alert::HandshakeFailure,
        )) => Reason::TlsFailed,
        _ => Reason::SourceUnreachable,
    }
}

fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// The client's certificate chain and key, when there are any.
fn own_certificate(
    policy: &TlsPolicy,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, Error> {
    let chain = match &policy.certificate {
        OwnFile::Named(path) => path,
        OwnFile::IfAny(Some(path)) if path.exists() => path,
        OwnFile::IfAny(_) => return Ok(None),
    };
    let key = match &policy.key {
        OwnFile::Named(path) | OwnFile::IfAny(Some(path)) => path,
        OwnFile::IfAny(None) => return Err(unusable("sslkey", "not given")),
    };
    let chain = certificates(chain, "sslcert")?;
    check_private(key)?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|_| unusable("sslkey", "not readable, or not an unencrypted key in PEM"))?;
    Ok(Some((chain, key)))
}

/// As in libpq: a key is private to its owner, or belongs to root and is readable by a group.
fn check_private(key: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt;

    let metadata = std::fs::metadata(key).map_err(|_| unusable("sslkey", "not readable"))?;
    let forbidden = if metadata.uid() == 0 { 0o027 } else { 0o077 };
    if metadata.mode() & forbidden != 0 {
        return Err(unusable(
            "sslkey",
            "others may read it; its mode should be 0600",
        ));
    }
    Ok(())
}

fn certificates(path: &Path, option: &'static str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let parsed = CertificateDer::pem_file_iter(path)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|_| unusable(option, "not readable, or not certificates in PEM"))?;
    if parsed.is_empty() {
        return Err(unusable(option, "holds no certificate"));
    }
    Ok(parsed)
}

fn unusable(option: &'static str, fact: &'static str) -> Error {
    Error::new(Reason::TlsFileUnusable, Site::option(option).fact(fact))
}

/// How the server's certificate is judged.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Trust {
    /// Whatever is presented: encryption against listeners, nothing more.
    Anything,
    /// A chain to an authority.
    Chain {
        authorities: Vec<CertificateDer<'static>>,
        chain: Arc<WebPkiServerVerifier>,
        name: NameCheck,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NameCheck {
    Skipped,
    Made,
}

impl Verifier {
    fn new(policy: &TlsPolicy, provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let algorithms = provider.signature_verification_algorithms;
        let authorities = match &policy.roots {
            Roots::File(path) => Some(certificates(path, "sslrootcert")?),
            Roots::FileIfAny(Some(path)) if path.exists() => {
                Some(certificates(path, "sslrootcert")?)
            }
            Roots::System => None,
            Roots::FileIfAny(_) => match policy.mode {
                SslMode::VerifyFull => None,
                // Any public authority's customer would pass.
                SslMode::VerifyCa => {
                    return Err(unusable("sslrootcert", "verify-ca needs a root file"));
                }
                SslMode::Disable | SslMode::Prefer | SslMode::Require => {
                    return Ok(Self {
                        trust: Trust::Anything,
                        algorithms,
                    });
                }
            },
        };
        let authorities =
            authorities.unwrap_or_else(|| rustls_native_certs::load_native_certs().certs);
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities.iter().cloned());
        let chain =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                .build()
                .map_err(|_| unusable("sslrootcert", "no usable authority"))?;
        let name = match policy.mode {
            SslMode::VerifyFull => NameCheck::Made,
            _ => NameCheck::Skipped,
        };
        Ok(Self {
            trust: Trust::Chain {
                authorities,
                chain,
                name,
            },
            algorithms,
        })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trust::Chain {
            authorities,
            chain,
            name,
        } = &self.trust
        else {
            return Ok(ServerCertVerified::assertion());
        };
        // A self-signed server certificate given as its own root: libpq and OpenSSL take it, webpki refuses an
        // authority's certificate as a server's. Trusting exactly these bytes is the stronger statement.
        if authorities.contains(end_entity) {
            check_validity(end_entity, now)?;
            if *name == NameCheck::Made {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        // The name is compared last, so a certificate that fails only there has a good chain.
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if *name == NameCheck::Skipped => Ok(ServerCertVerified::assertion()),
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Whether now is between the certificate's two dates.
fn check_validity(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), rustls::Error> {
    let parsed =
        x509_cert::Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let validity = parsed.tbs_certificate().validity();
    let now = Duration::from_secs(now.as_secs());
    if now < validity.not_before.to_unix_duration() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after.to_unix_duration() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}
