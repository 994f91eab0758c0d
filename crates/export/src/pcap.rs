//! RRC and NAS messages as pcap or pcapng, for Wireshark.
//!
//! RRC and NAS of LTE, UMTS and GSM go as GSMTAP over UDP. GSMTAP has no type for NR, so NR's
//! messages go as exported PDUs, which name their dissector. In a pcapng they have a second
//! interface. A pcap has room for one kind of packet only, so it leaves them out. MAC of LTE and NR
//! is not written: its records hold headers and control elements without their blocks. The only
//! exception is the first ten bytes of a random access's third message.
//!
//! GSM's broadcast and common channels go as type Um. A record of another channel has its layer 3
//! without the layer 2 that Um has before it. Such messages, and NAS of UMTS and GSM, go as type
//! A-bis, which is layer 3 alone.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use etherparse::PacketBuilder;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError, TsResolution};
use sounding_diag::LogRecord;
use sounding_diag::record::RrcPdu;

use crate::message::{Channel, Message};

/// UDP port of GSMTAP.
const PORT: u16 = 4729;
/// LINKTYPE_IPV4 and LINKTYPE_WIRESHARK_UPPER_PDU.
const IPV4: DataLink = DataLink::IPV4;
const UPPER_PDU: u32 = 252;
/// Longer than any message a record can hold with its headers.
const SNAP_LEN: u32 = 1 << 17;

/// Writes messages as they come.
pub struct Messages<W: Write> {
    out: Out<W>,
}

/// The result for the message of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It is in the file.
    Written,
    /// It is in the file without the number of its carrier, for which GSMTAP has fourteen bits.
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
        Ok(Self { out })
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
        Ok(Self { out: Out::PcapNg(out) })
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
        let mut became = Became::Written;
        let (interface, data) = match kind(message.channel) {
            Some(Kind::Gsmtap(kind, sub)) => {
                if message.carrier > MOST_CARRIER {
                    became = Became::WithoutCarrier;
                }
                (0, gsmtap(message, kind, sub)?)
            }
            Some(Kind::Named(dissector)) => (1, exported(dissector, message.bytes)),
            None => return Ok(Became::NoPlace),
        };
        let len = data.len() as u32;
        match &mut self.out {
            Out::Pcap(_) if interface > 0 => return Ok(Became::NoPlace),
            Out::Pcap(out) => out.write_packet(&PcapPacket::new(at, len, &data)).map(drop),
            Out::PcapNg(out) => {
                let block = EnhancedPacketBlock {
                    interface_id: interface,
                    timestamp: at,
                    original_len: len,
                    data: Cow::Borrowed(&data),
                    options: match became {
                        Became::WithoutCarrier => {
                            let carrier = format!("carrier {}", message.carrier);
                            vec![EnhancedPacketOption::Comment(carrier.into())]
                        }
                        _ => Vec::new(),
                    },
                };
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

enum Kind {
    /// Type and subtype of GSMTAP.
    Gsmtap(u8, u8),
    /// The dissector's name.
    Named(&'static str),
}

/// GSMTAP's numbers are those of its registry, as Wireshark reads them. A channel with neither a
/// number nor a dissector is left out.
fn kind(channel: Channel) -> Option<Kind> {
    const LTE_RRC: u8 = 13;
    const NAS: u8 = 18;
    const UMTS_RRC: u8 = 12;
    const UM: u8 = 1;
    const ABIS: u8 = 2;
    let umts = |number| Some(Kind::Gsmtap(UMTS_RRC, number));
    let pdu = match channel {
        Channel::NasNr => return Some(Kind::Named("nas-5gs")),
        Channel::UmtsNas => return Some(Kind::Gsmtap(ABIS, 0)),
        Channel::GsmRr(channel) => {
            return match channel {
                "bcch" => Some(Kind::Gsmtap(UM, 1)),
                "ccch" => Some(Kind::Gsmtap(UM, 2)),
                "dcch" | "sacch" | "sdcch" | "facch" => Some(Kind::Gsmtap(ABIS, 0)),
                _ => None,
            };
        }
        Channel::GprsMac => return Some(Kind::Gsmtap(UM, 11)),
        Channel::UmtsRrc(channel) => {
            return match channel {
                "dl_dcch" => umts(0),
                "ul_dcch" => umts(1),
                "dl_ccch" => umts(2),
                "ul_ccch" => umts(3),
                "pcch" => umts(4),
                "bcch_fach" => umts(7),
                "bcch_bch" => umts(8),
                "mcch" => umts(9),
                "msch" => umts(10),
                _ => None,
            };
        }
        Channel::NasPlain => return Some(Kind::Gsmtap(NAS, 0)),
        Channel::NasProtected => return Some(Kind::Gsmtap(NAS, 1)),
        Channel::Rrc(pdu) => pdu,
    };
    let lte = |number| Some(Kind::Gsmtap(LTE_RRC, number));
    let named = |name| Some(Kind::Named(name));
    match pdu {
        RrcPdu::LteDlCcch => lte(0),
        RrcPdu::LteDlDcch => lte(1),
        RrcPdu::LteUlCcch => lte(2),
        RrcPdu::LteUlDcch => lte(3),
        RrcPdu::LteBcchBch => lte(4),
        RrcPdu::LteBcchDlSch => lte(5),
        RrcPdu::LtePcch => lte(6),
        RrcPdu::LteMcch => lte(7),
        RrcPdu::NbDlCcch => lte(14),
        RrcPdu::NbDlDcch => lte(15),
        RrcPdu::NbUlCcch => lte(16),
        RrcPdu::NbUlDcch => lte(17),
        RrcPdu::NbBcchBch => lte(18),
        RrcPdu::NbBcchDlSch => lte(20),
        RrcPdu::NbPcch => lte(21),
        RrcPdu::NrBcchBch => named("nr-rrc.bcch.bch"),
        RrcPdu::NrBcchDlSch => named("nr-rrc.bcch.dl.sch"),
        RrcPdu::NrDlCcch => named("nr-rrc.dl.ccch"),
        RrcPdu::NrDlDcch => named("nr-rrc.dl.dcch"),
        RrcPdu::NrMcch => named("nr-rrc.mcch"),
        RrcPdu::NrPcch => named("nr-rrc.pcch"),
        RrcPdu::NrUlCcch => named("nr-rrc.ul.ccch"),
        RrcPdu::NrUlCcch1 => named("nr-rrc.ul.ccch1"),
        RrcPdu::NrUlDcch => named("nr-rrc.ul.dcch"),
        RrcPdu::NrReconfiguration => named("nr-rrc.rrc_reconf"),
        RrcPdu::NrRadioBearerConfig => named("nr-rrc.radio_bearer_conf"),
        RrcPdu::NrCapability => named("nr-rrc.ue_nr_cap"),
        RrcPdu::MrdcCapability => named("nr-rrc.ue_mrdc_cap"),
        RrcPdu::NrReconfigurationComplete => None,
    }
}

/// The largest number of a carrier that GSMTAP has room for.
const MOST_CARRIER: u32 = 0x3FFF;

/// A message with its GSMTAP header, in UDP, in IP.
fn gsmtap(message: &Message<'_>, kind: u8, sub: u8) -> io::Result<Vec<u8>> {
    const UPLINK: u16 = 0x4000;
    let fits = u16::try_from(message.carrier).ok().filter(|_| message.carrier <= MOST_CARRIER);
    let carrier = fits.unwrap_or(0) | if message.uplink { UPLINK } else { 0 };
    let (frame, subframe) = message.tti.map_or((0, 0), |tti| (tti.sfn(), tti.subframe()));
    // Version 2, a header of four words.
    let mut payload = vec![2, 4, kind, 0];
    payload.extend(carrier.to_be_bytes());
    // Signal and noise are not in the record.
    payload.extend([0, 0]);
    payload.extend(u32::from(frame).to_be_bytes());
    payload.extend([sub, 0, subframe, 0]);
    if message.channel == Channel::GprsMac {
        // The header of a control block without optional octets (TS 44.060 §10.4.7), which the
        // record leaves out.
        payload.push(0x40);
    }
    payload.extend(message.bytes);
    let here = [127, 0, 0, 1];
    let mut packet = Vec::new();
    PacketBuilder::ipv4(here, here, 64)
        .udp(PORT, PORT)
        .write(&mut packet, &payload)
        .map_err(io::Error::other)?;
    Ok(packet)
}

/// A message with the name of its dissector before it.
fn exported(dissector: &str, message: &[u8]) -> Vec<u8> {
    const NAME: u16 = 12;
    let padded = dissector.len().next_multiple_of(4);
    let mut data = Vec::new();
    data.extend(NAME.to_be_bytes());
    data.extend((padded as u16).to_be_bytes());
    data.extend(dissector.bytes());
    data.resize(4 + padded, 0);
    // The end of the tags.
    data.extend([0; 4]);
    data.extend(message);
    data
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
