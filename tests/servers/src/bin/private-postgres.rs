//! A private server to try things against: prints its connection string and runs until it is killed or its
//! standard input ends. `REPLICANT_PG_VERSION=17` chooses a version.

use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use replicant_test_servers::{Cluster, Error};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Error> {
    let cluster = Cluster::start_default()?;
    let _ = writeln!(stdout(), "{}", cluster.conninfo("postgres"));
    let _ = stdin().read_to_end(&mut Vec::new());
    Ok(())
}
