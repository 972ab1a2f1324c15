//! Several messages in one input: each with its length in front, in two bytes.

/// The input that holds these messages. One longer than 65,535 bytes is cut there.
pub fn join(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut input = Vec::new();
    for message in messages {
        let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
        input.extend(length.to_be_bytes());
        input.extend(message.iter().take(usize::from(length)));
    }
    input
}

/// The messages in an input. The last one may be shorter than its length says.
pub fn split(mut input: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = input.split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
        let (message, rest) = rest.split_at_checked(length)?;
        input = rest;
        Some(message)
    })
}
