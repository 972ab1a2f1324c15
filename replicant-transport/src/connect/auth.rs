//! How we prove who we are, and let the server prove that it knows the password.
//!
//! Source: PostgreSQL documentation, "Start-up" in "Message Flow", and "SASL Authentication". One exchange per
//! session: a server that asks twice, or says "ok" before its proof, is refused.

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding as Gs2, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::frontend;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::fault::{ServerFault, sqlstate_of};
use super::frame::{Frame, Frames, violation};
use super::policy::{AuthMethod, ChannelBinding, RequireAuth};
use crate::error::{Error, Site};
use crate::reason::Reason;

/// What carries the exchange.
pub(super) enum Channel {
    /// Anyone on the way can read it, or the peer is only assumed.
    Plain,
    /// TLS, with the bytes SCRAM can be bound to when the certificate has them.
    Tls { binding: Option<Vec<u8>> },
}

/// With what and under which conditions we authenticate.
pub(super) struct Login<'a> {
    pub(super) user: &'a str,
    pub(super) password: Option<&'a SecretString>,
    pub(super) require: &'a RequireAuth,
    pub(super) channel_binding: ChannelBinding,
    pub(super) channel: &'a Channel,
}

/// When it failed.
pub(super) enum AuthFailure {
    /// The server refused before asking for anything: perhaps no rule of its pg_hba.conf is for this kind of connection.
    Unasked(Error),
    /// Anything else.
    Failed(Error),
}

impl From<Error> for AuthFailure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// How far the exchange is.
enum Progress {
    Unasked,
    PasswordSent,
    /// Our first message is sent.
    Scram(ScramSha256),
    /// Our proof is sent.
    ScramProof(ScramSha256),
    /// The server's proof held.
    Mutual,
}

/// Answers the server's requests until AuthenticationOk.
pub(super) async fn authenticate<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    frames: &mut Frames,
    login: &Login<'_>,
) -> Result<(), AuthFailure> {
    let mut progress = Progress::Unasked;
    loop {
        let Frame { tag, body } = frames.read(stream).await?;
        match tag {
            b'R' => {}
            b'N' => continue,
            b'E' => {
                let state = sqlstate_of(&body);
                let error = Error::from(ServerFault::SqlState(state));
                return Err(match progress {
                    // Nothing was said so far but what the session begins with. A server takes all of it.
                    Progress::Unasked if error.reason == Reason::ProtocolViolation => {
                        let site = Site::none().sqlstate(Some(state));
                        Error::new(Reason::SessionSettingsRefused, site).into()
                    }
                    Progress::Unasked => AuthFailure::Unasked(error),
                    _ => AuthFailure::Failed(error),
                });
            }
            _ => return Err(violation("a message that authentication does not know").into()),
        }
        let (code, data) = body
            .split_first_chunk()
            .ok_or_else(|| violation("a request without a code"))?;
        let (next, answer) = match login.answer(u32::from_be_bytes(*code), data, progress)? {
            Step::Done => return Ok(()),
            Step::Wait(next) => (next, BytesMut::new()),
            Step::Say(next, answer) => (next, answer),
        };
        progress = next;
        let sent = async {
            stream.write_all(&answer).await?;
            stream.flush().await
        };
        sent.await
            .map_err(|_| Error::from(Reason::SourceUnreachable))?;
    }
}

enum Step {
    Done,
    Wait(Progress),
    Say(Progress, BytesMut),
}

impl Login<'_> {
    /// What to do about one request.
    fn answer(&self, code: u32, data: &[u8], progress: Progress) -> Result<Step, Error> {
        match (code, progress) {
            (0, progress) => self.finish(&progress),
            (3, Progress::Unasked) => {
                self.allow(AuthMethod::Password)?;
                if matches!(self.channel, Channel::Plain) {
                    return Err(Reason::CleartextPasswordRefused.into());
                }
                let password = self.password()?.expose_secret();
                say(Progress::PasswordSent, |out| {
                    frontend::password_message(password.as_bytes(), out)
                })
            }
            (5, Progress::Unasked) => {
                self.allow(AuthMethod::Md5)?;
                let salt = data
                    .try_into()
                    .map_err(|_| violation("an md5 salt that is not 4 bytes"))?;
                let hash = md5_hash(
                    self.user.as_bytes(),
                    self.password()?.expose_secret().as_bytes(),
                    salt,
                );
                say(Progress::PasswordSent, |out| {
                    frontend::password_message(hash.as_bytes(), out)
                })
            }
            (10, Progress::Unasked) => self.begin_scram(data),
            (11, Progress::Scram(mut scram)) => {
                scram
                    .update(data)
                    .map_err(|_| violation("a SCRAM challenge that is malformed or too costly"))?;
                let proof = scram.message().to_vec();
                say(Progress::ScramProof(scram), |out| {
                    frontend::sasl_response(&proof, out)
                })
            }
            (12, Progress::ScramProof(mut scram)) => {
                scram
                    .finish(data)
                    .map_err(|_| Error::from(Reason::ServerNotAuthentic))?;
                Ok(Step::Wait(Progress::Mutual))
            }
            (7..=9, Progress::Unasked) => Err(refused_method("the server asks for gss or sspi")),
            (3 | 5 | 10 | 11 | 12, _) => Err(violation("an authentication request out of order")),
            _ => Err(refused_method(
                "the server asks for a method that is not known here",
            )),
        }
    }

    /// AuthenticationOk: acceptable unless the server still owes its proof.
    fn finish(&self, progress: &Progress) -> Result<Step, Error> {
        match progress {
            Progress::Unasked => self.allow(AuthMethod::None).map(|()| Step::Done),
            Progress::PasswordSent | Progress::Mutual => Ok(Step::Done),
            Progress::Scram(_) | Progress::ScramProof(_) => Err(Reason::ServerNotAuthentic.into()),
        }
    }

    /// Chooses the mechanism and sends our first message.
    fn begin_scram(&self, data: &[u8]) -> Result<Step, Error> {
        self.allow(AuthMethod::ScramSha256)?;
        let offers = |name: &str| {
            data.split(|byte| *byte == 0)
                .any(|offered| offered == name.as_bytes())
        };
        let binding = match (self.channel, self.channel_binding) {
            (_, ChannelBinding::Disable) | (Channel::Plain, _) => None,
            (Channel::Tls { binding }, _) => binding.clone(),
        };
        let (mechanism, gs2) = match binding {
            Some(hash) if offers(SCRAM_SHA_256_PLUS) => {
                (SCRAM_SHA_256_PLUS, Gs2::tls_server_end_point(hash))
            }
            _ if self.channel_binding == ChannelBinding::Require => {
                return Err(Reason::ChannelBindingUnavailable.into());
            }
            _ if !offers(SCRAM_SHA_256) => {
                return Err(refused_method("the server offers no SCRAM-SHA-256"));
            }
            // Tells the server that we could have: it notices when someone removed its own offer on the way.
            Some(_) => (SCRAM_SHA_256, Gs2::unrequested()),
            None => (SCRAM_SHA_256, Gs2::unsupported()),
        };
        let scram = ScramSha256::new(self.password()?.expose_secret().as_bytes(), gs2);
        let first = scram.message().to_vec();
        say(Progress::Scram(scram), |out| {
            frontend::sasl_initial_response(mechanism, &first, out)
        })
    }

    /// Refuses what the policy rules out before anything secret is sent.
    fn allow(&self, method: AuthMethod) -> Result<(), Error> {
        if !self.require.allows(method) {
            return Err(Error::new(
                Reason::AuthenticationMethodRefused,
                Site::option("require_auth"),
            ));
        }
        // Only SCRAM can be bound; a password sent in another exchange would already be lost.
        let binds = matches!(method, AuthMethod::ScramSha256);
        if self.channel_binding == ChannelBinding::Require && !binds {
            return Err(Reason::ChannelBindingUnavailable.into());
        }
        Ok(())
    }

    fn password(&self) -> Result<&SecretString, Error> {
        self.password.ok_or_else(|| Reason::PasswordMissing.into())
    }
}

fn say(
    next: Progress,
    encode: impl FnOnce(&mut BytesMut) -> std::io::Result<()>,
) -> Result<Step, Error> {
    let mut message = BytesMut::new();
    encode(&mut message).map_err(|_| super::keyword::invalid("password", "a zero byte"))?;
    Ok(Step::Say(next, message))
}

fn refused_method(fact: &'static str) -> Error {
    Error::new(Reason::AuthenticationMethodRefused, Site::none().fact(fact))
}
