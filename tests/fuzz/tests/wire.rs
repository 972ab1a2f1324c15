//! The wire decoder and the assembler against arbitrary valid input: nothing is lost, nothing leaks, nothing panics.

// Test code outside of test functions states its expectations in the same way.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use bytes::Bytes;
use proptest::prelude::*;
use replicant_fuzz::encode;
use replicant_fuzz::generate::{self, CANARY};
use replicant_transport::assemble::{Assembler, Event};
use replicant_transport::wire::{self, Message, frame};

proptest! {
    #[test]
    fn a_message_survives_the_way_there_and_back(message in generate::message()) {
        let decoded = wire::decode(Bytes::from(encode::message(&message)));
        prop_assert_eq!(decoded, Ok(message));
    }

    #[test]
    fn a_frame_survives_the_way_there_and_back(frame in generate::frame()) {
        let decoded = frame::decode(&Bytes::from(encode::frame(&frame)));
        prop_assert_eq!(decoded, Ok(frame));
    }

    #[test]
    fn every_prefix_and_every_extension_of_a_message_is_an_error(
        message in generate::message(),
        more in any::<u8>(),
    ) {
        let bytes = Bytes::from(encode::message(&message));
        for length in 0..bytes.len() {
            prop_assert!(wire::decode(bytes.slice(..length)).is_err(), "{} bytes", length);
        }
        let longer = [&bytes[..], &[more]].concat();
        prop_assert!(wire::decode(Bytes::from(longer)).is_err());
    }

    #[test]
    fn every_prefix_of_a_keepalive_is_an_error(frame in generate::frame()) {
        let bytes = Bytes::from(encode::frame(&frame));
        let header = match frame {
            frame::Frame::Data { .. } => 25,
            frame::Frame::Keepalive { .. } => bytes.len(),
        };
        for length in 0..header {
            prop_assert!(frame::decode(&bytes.slice(..length)).is_err(), "{} bytes", length);
        }
    }

    #[test]
    fn no_value_is_ever_printed(message in generate::message(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = encode::message(&message);
        let text = format!("{message:?}");
        prop_assert!(!text.contains(CANARY), "{}", text);
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let text = match wire::decode(Bytes::from(bytes)) {
            Ok(message) => format!("{message:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        prop_assert!(!text.contains(CANARY), "{}", text);
    }

    #[test]
    fn a_session_comes_out_as_the_transactions_that_went_in(session in generate::session()) {
        let mut assembler = Assembler::new();
        let mut expected = 0;
        let mut ordinals = 0;
        for message in session {
            let (is_begin, is_commit) =
                (matches!(message, Message::Begin(_)), matches!(message, Message::Commit(_)));
            let changes = match &message {
                Message::Insert(_) | Message::Update(_) | Message::Delete(_) | Message::Logical(_) => 1,
                Message::Truncate(truncate) => truncate.relations.len() as u64,
                _ => 0,
            };
            match assembler.feed(message).unwrap() {
                Event::Begin(_, change) | Event::Change(change) => {
                    prop_assert_eq!(change.ordinal.0, ordinals);
                    ordinals += changes;
                }
                Event::Commit(_) => prop_assert!(is_commit && ordinals > 0),
                Event::Empty(_) => prop_assert!(is_commit && ordinals == 0),
                Event::None | Event::Relation(_) => prop_assert_eq!(changes, 0),
                Event::StandaloneMessage { .. } => prop_assert!(false, "none was sent"),
            }
            if is_begin {
                ordinals = 0;
                expected += 1;
            }
            prop_assert_eq!(assembler.is_idle(), is_commit || expected == 0);
        }
    }
}

/// Lengths and counts that claim gigabytes, in messages of a few bytes.
#[test]
#[cfg(target_os = "linux")]
fn a_length_that_is_not_backed_by_bytes_allocates_nothing() {
    let before = peak_kib();
    for _ in 0..100 {
        for (head, tail) in [
            (&b"T"[..], &b"\0"[..]),
            (b"M\0\0\0\0\0\0\0\0\0p\0", b"x"),
            (b"I\0\0\0\x01N\0\x01t", b"x"),
            (b"I\0\0\0\x01N\0\x01b", b"x"),
        ] {
            for length in [0x7FFF_FFFF_u32, 0x8000_0000, 0xFFFF_FFFF, 0x4000_0000, 2] {
                let message = [head, &length.to_be_bytes(), tail].concat();
                assert!(wire::decode(Bytes::from(message)).is_err());
            }
        }
        for columns in [b"R\0\0\0\x01s\0t\0d\xFF\xFF", b"R\0\0\0\x01s\0t\0d\x7F\xFF"] {
            assert!(wire::decode(Bytes::from_static(columns)).is_err());
        }
    }
    let grown = peak_kib() - before;
    assert!(grown < 512 * 1024, "the address space grew by {grown} KiB");
}

#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmPeak:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
