//! Where does PostgreSQL come from on a machine that has none?

use std::path::Path;
use std::process::Command;

use replicant_test_servers::Installation;

use crate::run::{Failure, pass_through};

/// Fetched when nothing is installed and we may not install.
const FETCHED: u32 = 17;

/// A PostgreSQL for this run: the one asked for by the environment, the machine's, one installed through apt-get
/// when we are root on Debian, or a build fetched into `target/`.
///
/// # Errors
/// One sentence that says what to install.
pub(crate) fn postgres() -> Result<Installation, Failure> {
    match Installation::selected() {
        Ok(found) => return Ok(found),
        Err(replicant_test_servers::Error::NotFound) => {}
        Err(error) => return Err(error.into()),
    }
    if may_install() {
        println!("no PostgreSQL here; installing it with apt-get");
        pass_through(Command::new("apt-get").args(["update", "-qq"]))?;
        pass_through(
            Command::new("apt-get")
                .args([
                    "install",
                    "-y",
                    "-qq",
                    "--no-install-recommends",
                    "postgresql",
                ])
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )?;
        return Ok(Installation::on_this_machine()?);
    }
    Installation::of_version(FETCHED)
        .map_err(|_| Failure::Unanswerable(replicant_test_servers::Error::NotFound.to_string()))
}

fn may_install() -> bool {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    root && Path::new("/usr/bin/apt-get").is_file()
}
