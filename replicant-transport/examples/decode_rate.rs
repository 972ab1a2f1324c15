//! How long one row message takes to decode and assemble: `cargo run --release --example decode_rate`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use replicant_transport::assemble::{Assembler, Event};
use replicant_transport::wire;

const MESSAGES: u32 = 2_000_000;
const COLUMNS: u16 = 8;

fn main() {
    for (label, kind, update) in [
        ("insert, text", b't', false),
        ("insert, binary", b'b', false),
        ("update with old image, text", b't', true),
    ] {
        let row = row(kind, update);
        let decode = rate(&row, |bytes| drop(black_box(wire::decode(bytes).unwrap())));
        let mut assembler = opened();
        let assemble = rate(&row, |bytes| {
            let event = assembler.feed(wire::decode(bytes).unwrap()).unwrap();
            assert!(matches!(
                black_box(event),
                Event::Begin(..) | Event::Change(_)
            ));
        });
        println!(
            "{label}: {} bytes, {COLUMNS} columns: decode {decode:.0} ns, with assembly {assemble:.0} ns",
            row.len()
        );
    }
}

/// Nanoseconds per message; the messages are slices of one buffer, as they are when read from a socket.
fn rate(row: &[u8], mut take: impl FnMut(Bytes)) -> f64 {
    let per_buffer = (256 * 1024) / row.len();
    let mut done = 0;
    let mut spent = Duration::ZERO;
    while done < MESSAGES {
        let mut buffer = BytesMut::with_capacity(per_buffer * row.len());
        for _ in 0..per_buffer {
            buffer.extend_from_slice(row);
        }
        let start = Instant::now();
        while buffer.len() >= row.len() {
            take(buffer.split_to(row.len()).freeze());
            done += 1;
        }
        spent += start.elapsed();
    }
    spent.as_nanos() as f64 / f64::from(done)
}

fn opened() -> Assembler {
    let mut relation = b"R\0\0\x40\0public\0orders\0d".to_vec();
    relation.extend(COLUMNS.to_be_bytes());
    for column in 0..COLUMNS {
        relation.push(u8::from(column == 0));
        relation.extend([b'a' + column as u8, 0]);
        relation.extend(25_u32.to_be_bytes());
        relation.extend((-1_i32).to_be_bytes());
    }
    let begin = [b"B".as_slice(), &[0; 20]].concat();
    let mut assembler = Assembler::new();
    for message in [begin, relation] {
        let message = wire::decode(Bytes::from(message)).unwrap();
        assembler.feed(message).unwrap();
    }
    assembler
}

fn row(kind: u8, update: bool) -> Vec<u8> {
    let mut message = vec![if update { b'U' } else { b'I' }];
    message.extend(0x4000_u32.to_be_bytes());
    if update {
        tuple(&mut message, b'O', kind);
    }
    tuple(&mut message, b'N', kind);
    message
}

fn tuple(message: &mut Vec<u8>, image: u8, kind: u8) {
    message.push(image);
    message.extend(COLUMNS.to_be_bytes());
    for column in 0..COLUMNS {
        let value = vec![b'7'; 4 + 5 * usize::from(column)];
        message.push(kind);
        message.extend((value.len() as u32).to_be_bytes());
        message.extend(value);
    }
}
