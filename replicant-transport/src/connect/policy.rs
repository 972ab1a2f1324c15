//! What is demanded of a connection: encryption, proof of identity, ways to authenticate, kind of server.

use std::path::PathBuf;

/// How much TLS. `allow` is refused: it asks for plaintext first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SslMode {
    /// Never.
    Disable,
    /// When the server offers it; protects from listeners only.
    Prefer,
    /// Always, with whatever certificate unless a root file is given.
    Require,
    /// Always, with a certificate that leads to a trusted root.
    VerifyCa,
    /// Always, with a trusted certificate for the name we connect to.
    VerifyFull,
}

/// How TLS begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Negotiation {
    /// With an SSLRequest.
    Postgres,
    /// At once, announced by ALPN (PostgreSQL 17 and later).
    Direct,
}

/// Whether the server's name is sent in the clear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sni {
    Sent,
    Withheld,
}

/// Which authorities are trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Roots {
    /// The named file, which must exist.
    File(PathBuf),
    /// This file if it exists.
    FileIfAny(Option<PathBuf>),
    /// The machine's.
    System,
}

/// A certificate or key file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum OwnFile {
    /// The named file, which must exist.
    Named(PathBuf),
    /// This file if it exists.
    IfAny(Option<PathBuf>),
}

/// Protocol versions; anything below 1.2 does not exist here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Versions {
    From12,
    Only12,
    Only13,
}

/// Everything about TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TlsPolicy {
    pub(super) mode: SslMode,
    pub(super) negotiation: Negotiation,
    pub(super) sni: Sni,
    pub(super) roots: Roots,
    pub(super) certificate: OwnFile,
    pub(super) key: OwnFile,
    pub(super) versions: Versions,
}

/// Whether SCRAM is bound to the TLS channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChannelBinding {
    Disable,
    Prefer,
    Require,
}

/// A way to authenticate, as `require_auth` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AuthMethod {
    /// Nothing was asked for: trust, peer, or a client certificate.
    None,
    Password,
    Md5,
    ScramSha256,
    Gss,
    Sspi,
}

impl AuthMethod {
    pub(super) fn from_keyword(text: &str) -> Option<Self> {
        Some(match text {
            "none" => Self::None,
            "password" => Self::Password,
            "md5" => Self::Md5,
            "scram-sha-256" => Self::ScramSha256,
            "gss" => Self::Gss,
            "sspi" => Self::Sspi,
            _ => return None,
        })
    }
}

/// Which ways to authenticate are acceptable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RequireAuth {
    Any,
    OneOf(Vec<AuthMethod>),
    NoneOf(Vec<AuthMethod>),
}

impl RequireAuth {
    /// Whether the server may use this method.
    pub(super) fn allows(&self, method: AuthMethod) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(methods) => methods.contains(&method),
            Self::NoneOf(methods) => !methods.contains(&method),
        }
    }

    /// `a,b` or `!a,!b`; the two cannot be mixed.
    pub(super) fn from_keyword(text: &str) -> Option<Self> {
        let items: Vec<&str> = text.split(',').map(str::trim).collect();
        let methods = |items: Vec<&str>| {
            items
                .into_iter()
                .map(AuthMethod::from_keyword)
                .collect::<Option<Vec<_>>>()
        };
        if items.iter().any(|item| item.starts_with('!')) {
            let negated = items
                .into_iter()
                .map(|item| item.strip_prefix('!'))
                .collect::<Option<Vec<_>>>()?;
            methods(negated).map(Self::NoneOf)
        } else {
            methods(items).map(Self::OneOf)
        }
    }
}

/// Which kind of server is wanted. `prefer-standby` is refused: a pipeline that may read from either is a guess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SessionAttributes {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
}

/// In which order hosts are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HostOrder {
    AsGiven,
    Random,
}
