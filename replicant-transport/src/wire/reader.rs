//! Where the next field lies: the only code that handles offsets, and the only one that can run out of bytes.
//!
//! Every read is checked against what remains. A length is compared before anything is allocated for it.

use std::ops::Range;

use bytes::Bytes;

use super::malformed::{Malformed, Problem};
use crate::ident::Ident;

/// A cursor over one message.
pub(super) struct Reader<'a> {
    message: &'static str,
    whole: &'a Bytes,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A cursor at the start of a message.
    ///
    /// A message is at most `i32::MAX` bytes long, as the protocol's length words are signed. So a negative length
    /// read as an unsigned number always exceeds what remains, and every offset fits in 32 bits.
    pub(super) fn new(message: &'static str, whole: &'a Bytes) -> Result<Self, Malformed> {
        let reader = Self {
            message,
            whole,
            rest: whole,
        };
        match i32::try_from(whole.len()) {
            Ok(_) => Ok(reader),
            Err(_) => Err(reader.malformed("length", Problem::TooLarge)),
        }
    }

    /// The same cursor, now known to be in this kind of message.
    pub(super) fn named(&mut self, message: &'static str) -> &mut Self {
        self.message = message;
        self
    }

    /// The message being read.
    pub(super) fn whole(&self) -> &'a Bytes {
        self.whole
    }

    /// A fault in this message.
    pub(super) fn malformed(&self, field: &'static str, problem: Problem) -> Malformed {
        Malformed {
            message: self.message,
            field,
            column: None,
            problem,
        }
    }

    pub(super) fn u8(&mut self, field: &'static str) -> Result<u8, Malformed> {
        self.array(field).map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self, field: &'static str) -> Result<u16, Malformed> {
        self.array(field).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32, Malformed> {
        self.array(field).map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self, field: &'static str) -> Result<i32, Malformed> {
        self.array(field).map(i32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, field: &'static str) -> Result<u64, Malformed> {
        self.array(field).map(u64::from_be_bytes)
    }

    pub(super) fn i64(&mut self, field: &'static str) -> Result<i64, Malformed> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// A 16-bit count of items of at least `item_bytes` each; more than could follow is refused.
    pub(super) fn count16(
        &mut self,
        field: &'static str,
        item_bytes: usize,
    ) -> Result<usize, Malformed> {
        let count = usize::from(self.u16(field)?);
        self.check_count(field, count, item_bytes)
    }

    /// A 32-bit count of items of at least `item_bytes` each; more than could follow is refused.
    pub(super) fn count32(
        &mut self,
        field: &'static str,
        item_bytes: usize,
    ) -> Result<usize, Malformed> {
        let count = usize::try_from(self.u32(field)?).unwrap_or(usize::MAX);
        self.check_count(field, count, item_bytes)
    }

    /// The extent of `length` bytes in the whole message, which are passed over.
    pub(super) fn extent(
        &mut self,
        field: &'static str,
        length: u32,
    ) -> Result<Range<u32>, Malformed> {
        let start = self.position();
        usize::try_from(length)
            .ok()
            .and_then(|length| self.take(length))
            .ok_or_else(|| self.malformed(field, Problem::BeyondEnd))?;
        Ok(start..start.saturating_add(length))
    }

    /// A length word and that many bytes, shared with the message.
    pub(super) fn block(&mut self, field: &'static str) -> Result<Bytes, Malformed> {
        let length = usize::try_from(self.u32(field)?).unwrap_or(usize::MAX);
        let bytes = self
            .take(length)
            .ok_or_else(|| self.malformed(field, Problem::BeyondEnd))?;
        Ok(self.whole.slice_ref(bytes))
    }

    /// Bytes up to a zero byte, which is passed over, shared with the message.
    pub(super) fn string(&mut self, field: &'static str) -> Result<Bytes, Malformed> {
        self.terminated(field)
            .map(|bytes| self.whole.slice_ref(bytes))
    }

    /// A name up to a zero byte.
    pub(super) fn ident(&mut self, field: &'static str) -> Result<Ident, Malformed> {
        let bytes = self.terminated(field)?;
        self.check_ident(field, bytes)
    }

    /// A schema's name up to a zero byte. The server writes nothing for `pg_catalog`.
    pub(super) fn schema(&mut self, field: &'static str) -> Result<Ident, Malformed> {
        match self.terminated(field)? {
            b"" => self.check_ident(field, b"pg_catalog"),
            bytes => self.check_ident(field, bytes),
        }
    }

    /// Everything that is left, shared with the message.
    pub(super) fn remainder(&mut self) -> Bytes {
        let rest = std::mem::take(&mut self.rest);
        self.whole.slice_ref(rest)
    }

    /// Checks that nothing is left.
    pub(super) fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.malformed("last field", Problem::TrailingBytes))
        }
    }

    fn check_ident(&self, field: &'static str, bytes: &[u8]) -> Result<Ident, Malformed> {
        let text =
            std::str::from_utf8(bytes).map_err(|_| self.malformed(field, Problem::NotUtf8))?;
        Ident::new(text).map_err(|error| self.malformed(field, Problem::NotAnIdent(error)))
    }

    fn check_count(
        &self,
        field: &'static str,
        count: usize,
        item_bytes: usize,
    ) -> Result<usize, Malformed> {
        match count.checked_mul(item_bytes) {
            Some(needed) if needed <= self.rest.len() => Ok(count),
            _ => Err(self.malformed(field, Problem::BeyondEnd)),
        }
    }

    fn terminated(&mut self, field: &'static str) -> Result<&'a [u8], Malformed> {
        let beyond = self.malformed(field, Problem::BeyondEnd);
        let length = self.rest.iter().position(|byte| *byte == 0).ok_or(beyond)?;
        let bytes = self.take(length).ok_or(beyond)?;
        self.take(1).ok_or(beyond)?;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => Err(self.malformed(field, Problem::BeyondEnd)),
        }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(head)
    }

    fn position(&self) -> u32 {
        // The constructor proved that the message is shorter than 2^31 bytes.
        u32::try_from(self.whole.len() - self.rest.len()).unwrap_or(u32::MAX)
    }
}
