//! Why we stopped: the closed list of this crate's reasons, each with a class and a sentence of help.
//!
//! [`closed_reasons!`](crate::closed_reasons) declares such a list; every crate of the workspace that can stop has one.

/// What a reason means for whoever drives the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Class {
    /// The world is at fault for a moment: try again with a delay.
    Transient,
    /// The declaration, the data or the setup is at fault: stop until someone changed it.
    Terminal,
    /// Continuing would be a guess: a person has to decide and say so with a command.
    OperatorDecision,
}

impl Class {
    /// Stable name, as printed in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Terminal => "terminal",
            Self::OperatorDecision => "operator decision",
        }
    }
}

/// Declares a closed `Reason` enum: `ALL`, `code()`, `class()`, `help()` and `Display` (the code).
///
/// An entry either spells these out, or is `Name as lower::Name`: the same reason, found by another crate.
#[macro_export]
macro_rules! closed_reasons {
    (
        $(#[$enum_doc:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $(= $code:literal, $class:ident, $help:literal)?
                $(as $same:expr)?;
            )*
        }
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum $name {
            $( $(#[$doc])* $variant, )*
        }

        impl $name {
            /// Every reason, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Stable machine-readable code.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => { $($code)? $($same.code())? })* }
            }

            /// Whether to retry, stop, or ask a person.
            pub const fn class(self) -> $crate::reason::Class {
                match self {
                    $(Self::$variant => { $($crate::reason::Class::$class)? $($same.class())? })*
                }
            }

            /// One sentence on what to do.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => { $($help)? $($same.help())? })* }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.code())
            }
        }
    };
}

closed_reasons! {
    /// Why the transport stopped or reconnects.
    pub enum Reason {
        /// The connection string, an environment variable or an option is not usable.
        ConfigInvalid = "config_invalid", Terminal,
            "Correct the named option; run `replicant explain config_invalid` for the accepted forms.";
        /// The server could not be reached, or the connection broke.
        SourceUnreachable = "source_unreachable", Transient,
            "Check host, port and network; the pipeline keeps trying with a growing delay.";

        // The source and its slot.

        /// The server or database is not the one that was declared.
        SourceIdentityMismatch = "source_identity_mismatch", OperatorDecision,
            "Check host and dbname; if the source was replaced on purpose, correct source_identity and reset the checkpoint.";
        /// Between asking and streaming the connection options led to another server or timeline.
        SourceChanged = "source_changed", Transient,
            "A failover or load balancer changed the server in between; the pipeline asks again.";
        /// The server is older than PostgreSQL 12.
        SourceReleaseUnsupported = "source_release_unsupported", Terminal,
            "Upgrade the source to PostgreSQL 12 or later.";
        /// `wal_level` is not `logical`.
        WalLevelNotLogical = "wal_level_not_logical", Terminal,
            "Run `alter system set wal_level = 'logical'` on the source and restart it.";
        /// A standby of a release that cannot decode there.
        StandbyUnsupported = "standby_unsupported", Terminal,
            "Connect to the primary, or use a standby of PostgreSQL 16 or later.";
        /// A requested publication does not exist, or did not exist yet where the slot stands.
        PublicationMissing = "publication_missing", Terminal,
            "Create the publication before the slot; a slot older than its publication has to be dropped and the mirror filled again.";
        /// A publication or a published table went away while the pipeline was running.
        PublicationChanged = "publication_changed", OperatorDecision,
            "Add the table to the publication again and fill its mirror, or remove it from the declaration.";
        /// Two publications send different columns of one table, which the server refuses to decode.
        PublicationColumnListsDiffer = "publication_column_lists_differ", Terminal,
            "Give the table the same column list in every publication this slot reads.";
        /// A column was dropped and added again under the same name and type; its stored values changed without a row event.
        SourceColumnReplaced = "source_column_replaced", OperatorDecision,
            "Fill the named table's mirror again: the source replaced every value of the column without announcing it; then reset the checkpoint.";
        /// A table was dropped and created again under the same name; its rows went without a row event.
        SourceTableReplaced = "source_table_replaced", OperatorDecision,
            "Fill the named table's mirror again: its rows are another table's; then reset the checkpoint.";
        /// The slot that earlier transactions were acknowledged to does not exist.
        SlotMissing = "slot_missing", OperatorDecision,
            "Changes since the last acknowledgement are gone; fill the mirror again with a new slot.";
        /// Another consumer holds the slot.
        SlotActive = "slot_active", Terminal,
            "Stop the other consumer, or end its walsender on the source; a slot has exactly one consumer.";
        /// The slot says from nowhere that it can be read.
        SlotOriginUnavailable = "slot_origin_unavailable", OperatorDecision,
            "The slot was never usable or is not any more; drop it and fill the mirror again.";
        /// The server invalidated the slot.
        SlotInvalidated = "slot_invalidated", OperatorDecision,
            "The WAL or the rows the slot needs are gone; drop it, fill the mirror again and raise max_slot_wal_keep_size.";
        /// The name belongs to a physical slot.
        SlotNotLogical = "slot_not_logical", Terminal,
            "Choose another slot name; this one belongs to a physical slot.";
        /// The slot decodes with another plugin.
        SlotPluginMismatch = "slot_plugin_mismatch", Terminal,
            "Choose another slot name; this slot uses another output plugin.";
        /// The slot belongs to another database.
        SlotDatabaseMismatch = "slot_database_mismatch", Terminal,
            "Choose another slot name or dbname; a slot decodes one database.";
        /// The slot dies with its session.
        SlotTemporary = "slot_temporary", Terminal,
            "Choose another slot name; a temporary slot cannot carry a durable checkpoint.";
        /// The slot sends prepared transactions before they are committed.
        SlotTwoPhase = "slot_two_phase", Terminal,
            "Drop the slot and let it be created without two_phase.";
        /// The slot is a copy that a standby keeps until it is promoted.
        SlotSynced = "slot_synced", Terminal,
            "Connect to the primary; a synchronised slot can be read only after its standby was promoted.";
        /// Every replication slot of the server is taken.
        SlotsExhausted = "slots_exhausted", Terminal,
            "Drop a slot that nobody reads, or raise max_replication_slots.";
        /// What was applied lies ahead of everything the source has written.
        SourceBehindWatermark = "source_behind_watermark", OperatorDecision,
            "The source was restored from a backup or replaced; reset the checkpoint and fill the mirror again.";
        /// The connection stayed open and nothing came, not even an answer.
        SourceSilent = "source_silent", Transient,
            "Check the network between here and the source; the pipeline reconnects.";

        // The sink.

        /// The sink did not finish within the time that a stop is given.
        StopTimedOut = "stop_timed_out", Transient,
            "Check what the destination waits for; what was not durable comes again at the next start.";
        /// The task that reports what is durable ended without a reason, although its sink still exists.
        SinkTaskEnded = "sink_task_ended", Terminal,
            "Report this with the log; nothing after the last acknowledgement was called durable.";

        // Decoding.

        /// A frame or message is not what the replication protocol allows.
        DecodeFailed = "decode_failed", Terminal,
            "The server sent something this version does not know; nothing was skipped. Report the named message and field.";
        /// A published table or column has a name that cannot be carried.
        InvalidIdentifier = "invalid_identifier", Terminal,
            "Rename the table or column on the source, or take it out of the publication: names are UTF-8, 1 to 63 bytes, without control characters.";
        /// A row or truncate refers to a table the server never described in this session.
        RelationUnknown = "relation_unknown", Terminal,
            "The stream contradicts itself; restart the pipeline and report it if it comes again.";
        /// A row has another number of columns than its table's description.
        RowShapeMismatch = "row_shape_mismatch", Terminal,
            "The stream contradicts itself; restart the pipeline and report it if it comes again.";
        /// Messages came in an order that the replication protocol rules out.
        StreamOutOfOrder = "stream_out_of_order", Terminal,
            "The stream contradicts itself; restart the pipeline and report it if it comes again.";
        // Connecting.
        /// The server did not answer within `connect_timeout`.
        ConnectTimeout = "connect_timeout", Transient,
            "Check the network and firewall between here and the server, or raise connect_timeout.";
        /// The host name has no address.
        HostNotFound = "host_not_found", Transient,
            "Correct the host name or the name service; the pipeline keeps trying with a growing delay.";
        /// TLS is required here and the server does not offer it.
        TlsRefused = "tls_refused", Terminal,
            "Turn on ssl on the server, or choose an sslmode that allows plaintext on a trusted network.";
        /// The server's certificate does not lead to a trusted root, or is expired or malformed.
        TlsCertificateUntrusted = "tls_certificate_untrusted", Terminal,
            "Point sslrootcert at the authority that signed the server's certificate, or renew that certificate.";
        /// The server's certificate is for another name.
        TlsHostnameMismatch = "tls_hostname_mismatch", Terminal,
            "Connect by a name or address listed in the certificate's subjectAltName, or reissue the certificate.";
        /// The TLS handshake failed for another cause, such as a client certificate the server does not accept.
        TlsFailed = "tls_failed", Terminal,
            "Check protocol versions and sslcert and sslkey; the server's log names the cause.";
        /// A root, certificate or key file cannot be read or used.
        TlsFileUnusable = "tls_file_unusable", Terminal,
            "Check that the named file exists, is readable and holds PEM; a private key must not be readable by others.";
        /// The password file or the service file exists but cannot be read.
        CredentialsFileUnreadable = "credentials_file_unreadable", Terminal,
            "Make the named file readable for the user running this process.";
        /// The server did not accept the user, password or certificate.
        AuthenticationFailed = "authentication_failed", Terminal,
            "Check user and password or certificate, and the server's pg_hba.conf; the server's log names the line.";
        /// The server asked for a password and none is configured.
        PasswordMissing = "password_missing", Terminal,
            "Set the password by PGPASSWORD, .pgpass or the connection string.";
        /// The server asked for an authentication method that is not spoken here or that `require_auth` rules out.
        AuthenticationMethodRefused = "authentication_method_refused", Terminal,
            "Configure scram-sha-256, md5 or a client certificate in pg_hba.conf, or correct require_auth.";
        /// The server asked for a cleartext password on a connection without TLS.
        CleartextPasswordRefused = "cleartext_password_refused", Terminal,
            "Use scram-sha-256 in pg_hba.conf, or connect with sslmode=verify-full.";
        /// Channel binding is required and this connection or server cannot do it.
        ChannelBindingUnavailable = "channel_binding_unavailable", Terminal,
            "Use TLS and scram-sha-256 on the server, or channel_binding=prefer.";
        /// The server could not prove that it knows the password.
        ServerNotAuthentic = "server_not_authentic", Terminal,
            "Something other than the intended server answers at this address; check the host and use sslmode=verify-full.";
        /// Something between here and the server, such as a pooler, refuses or drops what a session begins with.
        SessionSettingsRefused = "session_settings_refused", Terminal,
            "Connect to the server itself and not through a pooler: a mirror's sessions need replication, settings and locks of their own.";
        /// The database does not exist.
        DatabaseMissing = "database_missing", Terminal,
            "Create the database or correct dbname.";
        /// All connection or walsender places are taken.
        TooManyConnections = "too_many_connections", Transient,
            "Raise max_connections or max_wal_senders, or free a connection; the pipeline keeps trying.";
        /// The server is starting up, shutting down or recovering.
        ServerUnavailable = "server_unavailable", Transient,
            "Wait until the server accepts connections; the pipeline keeps trying with a growing delay.";
        /// No host satisfies `target_session_attrs` at the moment.
        SessionAttributesUnmatched = "session_attributes_unmatched", Transient,
            "Check which of the hosts is the primary; the pipeline keeps trying, as after a failover.";
        /// The role lacks a privilege.
        PrivilegeMissing = "privilege_missing", Terminal,
            "Grant the role what it lacks: LOGIN, REPLICATION on the source, CONNECT on the database.";
        /// The server refused the session or a statement for a reason without a code of its own; see the SQLSTATE.
        ServerRefused = "server_refused", Terminal,
            "Look up the SQLSTATE in the PostgreSQL documentation, appendix A; the server's log has the message.";
        /// Bytes arrived that the PostgreSQL protocol does not allow here.
        ProtocolViolation = "protocol_violation", Terminal,
            "Check that a PostgreSQL server, and not a proxy or another service, answers at this address.";
        /// The server ended the replication stream in good order.
        StreamEnded = "stream_ended", Transient,
            "The server is shutting down or the stream was ended on request; the pipeline reconnects.";
    }
}
