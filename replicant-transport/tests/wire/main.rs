//! What real servers sent, decoded and assembled: every capture reads as its rendering says.
//!
//! See `capture.sh` for how a capture is made. `WIRE_BLESS=1` writes the renderings anew.

// Test code outside of test functions states its expectations in the same way.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod render;

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use replicant_transport::assemble::Assembler;
use replicant_transport::wire::{self, Message};

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/captures");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hex"))
        .collect();
    found.sort();
    assert!(found.len() >= 15, "captures are missing");
    found
}

fn messages(capture: &Path) -> Vec<Bytes> {
    let text = fs::read_to_string(capture).unwrap();
    text.lines().map(unhex).collect()
}

fn unhex(line: &str) -> Bytes {
    assert!(line.len().is_multiple_of(2));
    (0..line.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn captures_decode_to_what_their_renderings_say() {
    let mut different = Vec::new();
    for capture in captures() {
        let mut assembler = Assembler::new();
        let mut names = render::Names::default();
        let mut text = String::new();
        for bytes in messages(&capture) {
            let message = wire::decode(bytes).unwrap();
            names.learn(&message);
            text += &names.message(&message);
            let event = assembler.feed(message).unwrap();
            text += &render::event(&event);
        }
        assert!(assembler.is_idle(), "{capture:?}");
        let expected = capture.with_extension("txt");
        if std::env::var_os("WIRE_BLESS").is_some() {
            fs::write(&expected, &text).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != text {
            different.push((expected, text));
        }
    }
    for (path, text) in &different {
        println!("{} should be:\n{text}", path.display());
    }
    assert!(different.is_empty());
}

#[test]
fn a_capture_cut_short_or_extended_is_an_error_everywhere() {
    for bytes in captures().iter().flat_map(|capture| messages(capture)) {
        for length in 0..bytes.len() {
            assert!(wire::decode(bytes.slice(..length)).is_err(), "{length}");
        }
        let longer = [&bytes[..], b"\0"].concat();
        assert!(wire::decode(Bytes::from(longer)).is_err());
    }
}

#[test]
fn nothing_of_a_row_is_in_a_debug_rendering() {
    for bytes in captures().iter().flat_map(|capture| messages(capture)) {
        let message = wire::decode(bytes).unwrap();
        if !matches!(message, Message::Relation(_)) {
            let text = format!("{message:?}");
            // Values in the captures that no type or field name contains.
            for value in ["bbbb", "kkkk", "so so", "dflt", "side", "wire_up"] {
                assert!(!text.contains(value), "{text}");
            }
        }
    }
}
