//! How a valid input is spoilt: bits, bytes, numbers, pieces.

use fastrand::Rng;

/// Numbers at which length checks go wrong.
const NUMBERS: [u32; 10] = [
    0,
    1,
    0x7F,
    0x80,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
];
/// Bytes that mean something somewhere in the protocol.
const BYTES: &[u8] = b"BCORYIUDTMNKOntbuwkrdfi\0\x01\x02\x03\x04\xFF";
/// Larger inputs find nothing that smaller ones do not.
const LENGTH_MAX: usize = 64 * 1024;

/// Changes the input in one to eight places. `other` is another input to take pieces from.
pub(crate) fn mutate(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=rng.u8(0..8) {
        once(rng, input, other);
    }
    input.truncate(LENGTH_MAX);
}

fn once(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8]) {
    let at = rng.usize(..=input.len());
    let piece = piece(rng, input.len().saturating_sub(at));
    match rng.u8(0..9) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.u8(0..8);
            }
        }
        1 => {
            if let (Some(byte), Some(new)) = (input.get_mut(at), rng.choice(BYTES)) {
                *byte = *new;
            }
        }
        2 => number(rng, input, at),
        3 => input.truncate(at),
        4 => drop(input.drain(at..at + piece)),
        5 => {
            let again: Vec<u8> = input.iter().skip(at).take(piece).copied().collect();
            input.splice(at..at, again);
        }
        6 => {
            let from = rng.usize(..=other.len());
            let length = self::piece(rng, other.len() - from);
            input.splice(at..at, other.iter().skip(from).take(length).copied());
        }
        7 => {
            let tail = rng.usize(..=other.len());
            input.truncate(at);
            input.extend(other.iter().skip(tail));
        }
        _ => input.insert(at, rng.u8(..)),
    }
}

/// Overwrites two or four bytes with a number that is likely to be taken for a length.
fn number(rng: &mut Rng, input: &mut [u8], at: usize) {
    let number = match rng.choice(NUMBERS) {
        Some(known) if rng.bool() => known,
        _ => u32::try_from(input.len())
            .unwrap_or(0)
            .wrapping_add(rng.u32(0..9))
            .wrapping_sub(4),
    };
    let bytes = number.to_be_bytes();
    let width = if rng.bool() { 2 } else { 4 };
    for (target, byte) in input.iter_mut().skip(at).zip(bytes.iter().skip(4 - width)) {
        *target = *byte;
    }
}

/// A length up to this one, mostly short.
fn piece(rng: &mut Rng, most: usize) -> usize {
    let most = if rng.u8(0..4) > 0 { most.min(16) } else { most };
    rng.usize(..=most)
}
