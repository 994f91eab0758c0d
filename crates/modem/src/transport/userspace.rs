//! The framing of Diag bytes between `/dev/diag` and user space.
//!
//! A read gives `u32 kind`, `u32 count`, then `count` times `u32 length` and that many bytes of
//! HDLC. Before the length of data from a second chip there is a negative number that names the
//! chip. A write is `u32 kind` and HDLC. All numbers are little-endian. Source:
//! docs/reference/diag.md, transport.

/// The kind of Diag bytes; others announce masks, packets of other clients, or the end.
pub(super) const DATA: u32 = 0x20;

/// The write that sends these bytes.
pub(super) fn wrap(bytes: &[u8]) -> Vec<u8> {
    [&DATA.to_le_bytes(), bytes].concat()
}

/// The pieces of HDLC in one read. Data of another kind has none. Bytes that do not fit their
/// lengths end the list.
pub(super) fn pieces(read: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (kind, rest) = word(read).unwrap_or_default();
    let (count, rest) = word(rest).filter(|_| kind == DATA).unwrap_or_default();
    let mut rest = rest;
    (0..count).map_while(move |_| {
        let (mut len, mut tail) = word(rest)?;
        // A chip's number: no piece is as long as a negative number is large.
        if len > i32::MAX as u32 {
            (len, tail) = word(tail)?;
        }
        let (piece, tail) = tail.split_at_checked(usize::try_from(len).ok()?)?;
        rest = tail;
        Some(piece)
    })
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[u32], tail: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend_from_slice(tail);
        bytes
    }

    fn all(bytes: &[u8]) -> Vec<&[u8]> {
        pieces(bytes).collect()
    }

    #[test]
    fn pieces_of_both_chips_are_taken_out_in_order() {
        let mut bytes = read(&[DATA, 2, 3], b"abc");
        bytes.extend(read(&[-1i32 as u32, 2], b"de"));
        assert_eq!(all(&bytes), [&b"abc"[..], b"de"]);
    }

    #[test]
    fn a_read_of_another_kind_has_no_pieces() {
        assert!(all(&read(&[0x10, 1, 3], b"abc")).is_empty());
        assert!(all(b"\x20").is_empty());
    }

    #[test]
    fn lengths_that_lie_end_the_read() {
        assert_eq!(all(&read(&[DATA, 9, 3], b"abc")), [b"abc"]);
        assert!(all(&read(&[DATA, 1, 4], b"abc")).is_empty());
        assert!(all(&read(&[DATA, u32::MAX, u32::MAX, u32::MAX], b"")).is_empty());
    }

    #[test]
    fn a_request_is_its_kind_and_its_frame() {
        assert_eq!(wrap(b"\x00\x78\xF0\x7E"), b"\x20\0\0\0\x00\x78\xF0\x7E");
    }
}
