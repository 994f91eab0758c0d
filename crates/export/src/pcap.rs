//! RRC and NAS messages as pcap or pcapng, for Wireshark.
//!
//! RRC and NAS of LTE, UMTS and GSM go as GSMTAP over UDP. Version 2 of GSMTAP has no type for NR,
//! and fourteen bits for the number of a carrier. A message beyond that goes as an exported PDU,
//! which names its dissector; the packet's comment has carrier, cell and direction. In a pcapng
//! these packets have a second interface. A pcap has room for one kind of packet only, and for no
//! comments: it leaves out NR, and large numbers of carriers. Version 3 of GSMTAP has room for all
//! of it, but Wireshark does not read it yet. MAC of LTE and NR is not written: its records hold
//! headers and control elements without their blocks. The only exception is the first ten bytes of
//! a random access's third message.
//!
//! GSM's broadcast and common channels go as type Um. A record of another channel has its layer 3
//! without the layer 2 that Um has before it. Such messages, and NAS of UMTS and GSM, go as type
//! A-bis, which is layer 3 alone.

mod packet;
mod place;

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError, TsResolution};
use sounding_diag::LogRecord;

use crate::message::Message;
use place::Place;

/// LINKTYPE_IPV4 and LINKTYPE_WIRESHARK_UPPER_PDU, the links of a pcapng's interfaces.
const IPV4: DataLink = DataLink::IPV4;
const UPPER_PDU: u32 = 252;
/// Longer than any message a record can hold with its headers.
const SNAP_LEN: u32 = 1 << 17;

/// Writes messages as they come.
pub struct Messages<W: Write> {
    out: Out<W>,
    gsmtap: Gsmtap,
}

/// The version of GSMTAP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gsmtap {
    /// Version 2, which Wireshark reads.
    #[default]
    V2,
    /// Version 3, of the public proposal, with tags for carrier, cell, frame and subframe.
    V3,
}

/// The result for the message of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It is in the file.
    Written,
    /// It is in the file without the number of its carrier, for which GSMTAP version 2 has fourteen
    /// bits.
    WithoutCarrier,
    /// The file has no place for it.
    NoPlace,
}

enum Out<W: Write> {
    Pcap(PcapWriter<W>),
    PcapNg(PcapNgWriter<W>),
}

impl<W: Write> Messages<W> {
    /// A pcap.
    ///
    /// # Errors
    ///
    /// That of `out`, which takes the file's header.
    pub fn pcap(out: W) -> io::Result<Self> {
        let header = PcapHeader {
            snaplen: SNAP_LEN,
            datalink: IPV4,
            ts_resolution: TsResolution::NanoSecond,
            ..PcapHeader::default()
        };
        let out = Out::Pcap(PcapWriter::with_header(out, header).map_err(io_error)?);
        Ok(Self { out, gsmtap: Gsmtap::default() })
    }

    /// A pcapng.
    ///
    /// # Errors
    ///
    /// That of `out`, which takes the file's header.
    pub fn pcapng(out: W) -> io::Result<Self> {
        let mut out = PcapNgWriter::new(out).map_err(io_error)?;
        for linktype in [IPV4, DataLink::from(UPPER_PDU)] {
            // Time stamps of a block count nanoseconds.
            let options = vec![InterfaceDescriptionOption::IfTsResol(9)];
            let interface = InterfaceDescriptionBlock { linktype, snaplen: SNAP_LEN, options };
            out.write_pcapng_block(interface).map_err(io_error)?;
        }
        Ok(Self { out: Out::PcapNg(out), gsmtap: Gsmtap::default() })
    }

    /// The same with another version of GSMTAP.
    #[must_use]
    pub fn with_gsmtap(self, gsmtap: Gsmtap) -> Self {
        Self { gsmtap, ..self }
    }

    /// Writes the message of `record`.
    ///
    /// # Errors
    ///
    /// That of `out`, and `InvalidInput` if the message is too long for GSMTAP.
    pub fn handle_message(
        &mut self,
        record: &LogRecord<'_>,
        message: &Message<'_>,
    ) -> io::Result<Became> {
        // Neither kind of file can leave out the time of an interface's packet: one without a time
        // gets 1970.
        let at = Duration::from_nanos(record.at.known_unix_nanos().unwrap_or(0));
        let place = Place::of(message);
        let exported = match self.out {
            Out::Pcap(_) => None,
            Out::PcapNg(_) => place.dissector,
        };
        let fits = message.carrier <= packet::MOST_CARRIER;
        let mut became = Became::Written;
        let mut options = Vec::new();
        let (interface_id, data) = match (self.gsmtap, place, exported) {
            (Gsmtap::V3, Place { v3: Some(kind), .. }, _) => (0, packet::v3(message, kind)?),
            (Gsmtap::V2, Place { v2: Some(kind), .. }, exported) if fits || exported.is_none() => {
                if !fits {
                    became = Became::WithoutCarrier;
                }
                (0, packet::v2(message, kind)?)
            }
            (_, _, Some(dissector)) => {
                let comment = packet::comment(dissector, message);
                options.push(EnhancedPacketOption::Comment(comment.into()));
                (1, packet::exported(dissector, message.bytes))
            }
            _ => return Ok(Became::NoPlace),
        };
        let original_len = data.len() as u32;
        match &mut self.out {
            Out::Pcap(out) => out.write_packet(&PcapPacket::new(at, original_len, &data)).map(drop),
            Out::PcapNg(out) => {
                let data = Cow::Borrowed(&data[..]);
                let timestamp = at;
                let block =
                    EnhancedPacketBlock { interface_id, timestamp, original_len, data, options };
                out.write_pcapng_block(block).map(drop)
            }
        }
        .map_err(io_error)?;
        Ok(became)
    }

    /// Returns the writer.
    pub fn into_inner(self) -> W {
        match self.out {
            Out::Pcap(out) => out.into_writer(),
            Out::PcapNg(out) => out.into_inner(),
        }
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
