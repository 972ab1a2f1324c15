//! What does a panic print? Where it happened, and never its message, which may hold a value.

use std::io::Write;

/// Makes every panic of this process print its place only. For hosts that run pipelines without [`main`](crate::main).
pub fn install() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(
            || "an unknown place".to_owned(),
            |place| format!("{}:{}:{}", place.file(), place.line(), place.column()),
        );
        let _ = writeln!(
            std::io::stderr(),
            "internal error at {place}; its message is withheld because it may hold row data"
        );
    }));
}
