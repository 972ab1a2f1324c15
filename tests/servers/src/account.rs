//! As whom does a server run? PostgreSQL refuses root, so root lends it an unprivileged account.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::error::Error;

/// The operating-system account of the servers we start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Account {
    /// Ours; we are not root.
    Own,
    /// Another one, because we are root.
    Lent { uid: u32, gid: u32 },
}

impl Account {
    /// `postgres` when it exists, else `nobody`; our own when we are not root.
    pub(crate) fn for_servers() -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self::Own;
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| lookup(&passwd, name))
            .unwrap_or(Self::Lent {
                uid: 65534,
                gid: 65534,
            })
    }

    /// Makes `command` run under this account. The standard library drops supplementary groups with it.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Self::Lent { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }

    /// Hands `path` over to this account.
    pub(crate) fn own(self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Own => Ok(()),
            Self::Lent { uid, gid } => chown(path, Some(uid), Some(gid))
                .map_err(Error::io("could not hand over a directory", path)),
        }
    }
}

fn lookup(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account::Lent { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_exact_name() {
        let passwd = "postgresql:x:7:8::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\n";
        assert!(matches!(
            lookup(passwd, "postgres"),
            Some(Account::Lent { uid: 101, gid: 104 })
        ));
        assert!(lookup(passwd, "nobody").is_none());
    }
}
