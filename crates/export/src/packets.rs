//! When packets were received: read from a pcap, a pcapng, or a table of comma-separated values.
//!
//! A file that ends early, or is damaged at some place, has the packets before that place. What a
//! file may hold is bounded: [`MOST_PACKETS`] packets of [`MOST_FLOWS`] flows.

mod csv;
#[cfg(feature = "pcap")]
mod frames;

use std::collections::HashMap;
use std::io::{self, BufReader, Read};

use thiserror::Error;

/// Packets that are kept of a file.
pub const MOST_PACKETS: usize = 1 << 22;
/// Flows that are distinguished.
pub const MOST_FLOWS: usize = 1 << 16;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it was received, in nanoseconds since the begin of the file's clock: 1970 in a pcap.
    pub at_ns: u64,
    /// When it was sent, on any clock; `None` if the file does not say so.
    pub sent_ns: Option<u64>,
    /// Its bytes; `None` if the file does not say so.
    pub bytes: Option<u64>,
    /// The place of its flow in [`Packets::flows`].
    pub flow: u32,
}

/// Packets of one way between two ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Its protocol and ends, as `udp 10.0.0.2:5000 > 192.0.2.1:443`, or the word in the file's
    /// column.
    pub name: String,
    /// How many packets it has.
    pub packets: u64,
    /// How many bytes these have, as far as they are known.
    pub bytes: u64,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// In the order in which they were received.
    pub packets: Vec<Packet>,
    /// In the order in which they began in the file.
    pub flows: Vec<Flow>,
    /// Packets that are of no flow: neither IPv4 nor IPv6, or of one flow more than are
    /// distinguished.
    pub others: u64,
    /// Why the file is not read to its end.
    pub cut: Option<String>,
    places: HashMap<String, u32>,
}

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub enum PacketsError {
    /// It cannot be read at all.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A file of another kind.
    #[error("is no pcap, no pcapng, and no table with a column `time_s`")]
    Unknown,
    /// It is a pcap or a pcapng, and the library was built without the feature `pcap`.
    #[error("this build reads no pcap and no pcapng")]
    LeftOut,
    /// It has a kind of link that is not read.
    #[error("has packets of link type {0}: Ethernet, raw IP and Linux's `any` device are read")]
    Link(u32),
    /// A line is wrong. Lines count from 1.
    #[error("line {line}: {what}")]
    Line {
        /// Number of the line.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// It has more than fits.
    #[error("has more than {MOST_PACKETS} packets: cut it into parts")]
    TooMany,
}

impl Packets {
    /// Reads a file of any of these kinds.
    ///
    /// # Errors
    ///
    /// [`PacketsError`] if the input cannot be read, has no known kind or link type, has a wrong
    /// line, or too many packets.
    pub fn read(input: impl Read) -> Result<Self, PacketsError> {
        let mut input = BufReader::new(input);
        let mut head = Vec::with_capacity(4);
        input.by_ref().take(4).read_to_end(&mut head)?;
        let whole = io::Cursor::new(head.clone()).chain(input);
        let mut packets = Self::default();
        match head[..] {
            [0xA1, 0xB2, 0xC3, 0xD4]
            | [0xA1, 0xB2, 0x3C, 0x4D]
            | [0xD4, 0xC3, 0xB2, 0xA1]
            | [0x4D, 0x3C, 0xB2, 0xA1] => packets.read_pcap(whole)?,
            [0x0A, 0x0D, 0x0D, 0x0A] => packets.read_pcapng(whole)?,
            _ => packets.read_csv(BufReader::new(whole))?,
        }
        packets.packets.sort_by_key(|packet| packet.at_ns);
        Ok(packets)
    }

    /// The flow with the most bytes, or, where they are unknown, packets.
    pub fn largest(&self) -> Option<u32> {
        let most = (0..)
            .zip(&self.flows)
            .max_by_key(|(place, flow)| (flow.bytes, flow.packets, std::cmp::Reverse(*place)));
        most.map(|(place, _)| place)
    }

    /// The only flow with a name that contains this; `None` for several or none.
    pub fn named(&self, part: &str) -> Option<u32> {
        let mut of = (0..).zip(&self.flows).filter(|(_, flow)| flow.name.contains(part));
        match (of.next(), of.next()) {
            (Some((place, _)), None) => Some(place),
            _ => None,
        }
    }

    fn push(
        &mut self,
        flow: &str,
        at_ns: u64,
        sent_ns: Option<u64>,
        bytes: Option<u64>,
    ) -> Result<(), PacketsError> {
        let place = match self.places.get(flow) {
            Some(&place) => place,
            None if self.flows.len() == MOST_FLOWS => {
                self.others += 1;
                return Ok(());
            }
            None => {
                let place = self.flows.len() as u32;
                self.flows.push(Flow { name: flow.to_owned(), ..Flow::default() });
                self.places.insert(flow.to_owned(), place);
                place
            }
        };
        if self.packets.len() == MOST_PACKETS {
            return Err(PacketsError::TooMany);
        }
        if let Some(flow) = self.flows.get_mut(place as usize) {
            flow.packets += 1;
            flow.bytes = flow.bytes.saturating_add(bytes.unwrap_or_default());
        }
        self.packets.push(Packet { at_ns, sent_ns, bytes, flow: place });
        Ok(())
    }
}

#[cfg(not(feature = "pcap"))]
impl Packets {
    fn read_pcap(&mut self, _: impl Read) -> Result<(), PacketsError> {
        Err(PacketsError::LeftOut)
    }

    fn read_pcapng(&mut self, _: impl Read) -> Result<(), PacketsError> {
        Err(PacketsError::LeftOut)
    }
}

#[cfg(test)]
#[cfg(feature = "pcap")]
mod tests;

#[cfg(test)]
#[cfg(not(feature = "pcap"))]
#[test]
fn a_file_of_packets_is_refused_by_a_build_without_them_and_a_table_is_read() {
    for head in [[0xD4, 0xC3, 0xB2, 0xA1], [0x0A, 0x0D, 0x0D, 0x0A]] {
        assert!(matches!(Packets::read(&head[..]), Err(PacketsError::LeftOut)), "{head:x?}");
    }
    let table = Packets::read(&b"time_s\n1\n2\n"[..]).expect("a table");
    assert_eq!(table.packets.len(), 2);
}
