//! Messages of rtnetlink as bytes: a builder, and views that no byte makes panic.

use crate::numbers::{ALIGN, HEADER_BYTES, TCMSG_BYTES};

/// A message to the kernel.
#[derive(Clone, Debug)]
pub struct Message(Vec<u8>);

impl Message {
    /// A message of this kind with no content yet. Its length and number are set at the end.
    pub fn new(kind: u16, flags: u16) -> Self {
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.resize(HEADER_BYTES, 0);
        Self(bytes)
    }

    /// The header of all messages about qdiscs, classes and filters.
    pub(crate) fn about(self, at: At) -> Self {
        let mut bytes = [0; TCMSG_BYTES];
        bytes[4..8].copy_from_slice(&at.device.to_ne_bytes());
        bytes[8..12].copy_from_slice(&at.handle.to_ne_bytes());
        bytes[12..16].copy_from_slice(&at.parent.to_ne_bytes());
        bytes[16..20].copy_from_slice(&at.info.to_ne_bytes());
        self.raw(&bytes)
    }

    /// Bytes, filled up to a multiple of four.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self.pad()
    }

    /// An attribute.
    pub fn attribute(mut self, kind: u16, data: &[u8]) -> Self {
        // No attribute of this crate is near the limit; one of the kernel's own was within it.
        let length = u16::try_from(4 + data.len()).unwrap_or(u16::MAX);
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(&data[..usize::from(length) - 4]);
        self.pad()
    }

    /// An attribute of this type (`nla_type`), with a number in this machine's order.
    pub fn number(self, kind: u16, value: u32) -> Self {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// A text with the zero at its end that the kernel expects.
    pub fn text(self, kind: u16, text: &str) -> Self {
        self.attribute(kind, &[text.as_bytes(), &[0]].concat())
    }

    /// An attribute that holds attributes.
    pub fn nested(self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let inner = fill(Self(Vec::new()));
        self.attribute(kind, &inner.0)
    }

    /// The bytes behind the header.
    pub fn content(self) -> Vec<u8> {
        self.0.get(HEADER_BYTES..).unwrap_or_default().to_vec()
    }

    fn pad(mut self) -> Self {
        self.0.resize(self.0.len().next_multiple_of(ALIGN), 0);
        self
    }

    /// The bytes to send, numbered.
    pub(crate) fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

/// The place that a message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) device: u32,
    pub(crate) handle: u32,
    pub(crate) parent: u32,
    pub(crate) info: u32,
}

/// A message from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// `nlmsg_type`, a number without a unit.
    pub kind: u16,
    /// `nlmsg_flags`.
    pub flags: u16,
    /// `nlmsg_seq`.
    pub sequence: u32,
    /// The bytes behind the header.
    pub content: &'a [u8],
}

/// The messages of a datagram. They end where one does not fit.
pub(crate) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Received<'_>> {
    std::iter::from_fn(move || {
        let length = usize::try_from(u32_at(bytes, 0)?).ok()?;
        let whole = bytes.get(..length).filter(|_| length >= HEADER_BYTES)?;
        bytes = bytes.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some(Received {
            kind: u16_at(whole, 4)?,
            flags: u16_at(whole, 6)?,
            sequence: u32_at(whole, 8)?,
            content: &whole[HEADER_BYTES..],
        })
    })
}

/// Attributes: kind and data. They end where one does not fit.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Attributes<'a> {
    /// Those behind a header of this many bytes.
    pub fn after(bytes: &'a [u8], header: usize) -> Self {
        Self(bytes.get(header..).unwrap_or_default())
    }

    /// The data of the first of this kind.
    pub fn get(self, wanted: u16) -> Option<&'a [u8]> {
        self.into_iter().find(|(kind, _)| *kind == wanted).map(|(_, data)| data)
    }

    /// The attributes inside of the first of this kind; none without it.
    pub fn nested(self, wanted: u16) -> Self {
        Self(self.get(wanted).unwrap_or_default())
    }

    pub(crate) fn u32(self, wanted: u16) -> Option<u32> {
        u32_at(self.get(wanted)?, 0)
    }

    pub(crate) fn u64(self, wanted: u16) -> Option<u64> {
        u64_at(self.get(wanted)?, 0)
    }

    /// A text, without the zero at its end.
    pub fn text(self, wanted: u16) -> Option<String> {
        let bytes = self.get(wanted)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = usize::from(u16_at(self.0, 0)?);
        // The highest two bits say that it is nested, or in the network's order.
        let kind = u16_at(self.0, 2)? & 0x3fff;
        let data = self.0.get(4..length)?;
        self.0 = self.0.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some((kind, data))
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_ne_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_ne_bytes)
}

/// In the network's order, as nftables has its numbers.
pub(crate) fn u32_at_network(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_be_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_holds_its_attributes_again() {
        let message = Message::new(36, 5).about(At { device: 3, parent: 7, ..At::default() });
        let bytes = message.text(1, "cake").nested(2, |it| it.number(9, 4).attribute(3, b"x"));
        let bytes = bytes.finish(11);
        let all: Vec<_> = messages(&bytes).collect();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].kind, all[0].sequence), (36, 11));
        let attributes = Attributes::after(all[0].content, TCMSG_BYTES);
        assert_eq!(attributes.text(1).as_deref(), Some("cake"));
        assert_eq!(attributes.nested(2).u32(9), Some(4));
        assert_eq!(attributes.nested(2).get(3), Some(&b"x"[..]));
        assert_eq!(attributes.nested(2).u32(3), None, "a short number is none");
    }

    #[test]
    fn a_message_that_is_cut_is_none() {
        let bytes = Message::new(36, 5).text(1, "pfifo").finish(1);
        for length in 0..bytes.len() {
            assert_eq!(messages(&bytes[..length]).count(), 0, "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes: Vec<u8>) {
            for message in messages(&bytes) {
                let length = Attributes(message.content).map(|(_, data)| data.len()).sum::<usize>();
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
