//! The contents of a cell's control channel: the downlink control information (DCI) of all its
//! users, as sniffers write it to files, and NG-Scope sends it over UDP.
//!
//! Three formats of files: NG-Scope's `.dciLog` of LTE, a file for each direction; FALCON's of LTE;
//! and NR-Scope's CSV. Each holds a little other than the rest; what a format does not hold is
//! `None` when read, and left out when written.

mod dci_log;
mod falcon;
mod line;
mod nr_scope;
mod reader;
mod remote;

pub use line::{BadLine, Problem};
pub use reader::{Counts, LiveReader, Reader};
pub use remote::{BadDatagram, REQUEST, Remote};

use alloc::string::String;
use core::fmt;
use core::time::Duration;

pub use sounding_estimate::Direction;

/// A slot of a cell. In LTE this is a subframe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The sniffer's clock, with its own origin. The formats keep microseconds.
    pub time: Duration,
    /// The number of the sniffed cell.
    pub cell: u8,
    /// System frame number, 0..=1023.
    pub frame: u16,
    /// Slot within the frame, 0..=9 in LTE.
    pub slot: u8,
}

/// A grant or an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dci {
    /// When it was sent.
    pub moment: Moment,
    /// The addressee.
    pub rnti: u16,
    /// Uplink grant or downlink assignment.
    pub direction: Direction,
    /// Resource blocks. Range 0..=275.
    pub prb: u16,
    /// Resource blocks of the cell. Range 0..=275.
    pub cell_prb: Option<u16>,
    /// The transport blocks; the first is there if the second is.
    pub blocks: [Option<Block>; 2],
    /// HARQ process, 0..=31.
    pub harq: Option<u8>,
}

/// A transport block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// I_MCS, 0..=31.
    pub mcs: u8,
    /// Redundancy version, 0..=3; in an uplink of `.dciLog` 4 is a repeat that PHICH asked for,
    /// without a DCI.
    pub rv: Option<u8>,
    /// New-data indicator.
    pub ndi: Option<bool>,
    /// Its size in bits.
    pub bits: u32,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A message.
    Dci(Dci),
    /// The sniffer listened, and there was none.
    Nothing(Moment),
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// NG-Scope's `.dciLog` of one direction: tab-separated without a header, 14 columns down, 12
    /// up.
    DciLog(Direction),
    /// FALCON: tab-separated without a header, 20 columns.
    Falcon,
    /// NR-Scope: CSV with a header that names the columns.
    NrScope,
}

impl Format {
    /// The first line of a file; empty if the format has none.
    pub const fn header(self) -> &'static str {
        match self {
            Self::DciLog(_) | Self::Falcon => "",
            Self::NrScope => nr_scope::HEADER,
        }
    }

    /// Appends a line. Returns false and appends nothing if the format has no line for it: the
    /// other direction, a slot outside a frame of LTE, or a slot without messages in a format
    /// of messages only.
    pub fn write(self, heard: &Heard, out: &mut String) -> bool {
        let before = out.len();
        let written = match self {
            Self::DciLog(direction) => dci_log::write(direction, heard, out),
            Self::Falcon => falcon::write(heard, out),
            Self::NrScope => nr_scope::write(heard, out),
        };
        if !matches!(written, Ok(true)) {
            out.truncate(before);
            return false;
        }
        out.push('\n');
        true
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DciLog(Direction::Downlink) => "dciLog, downlink",
            Self::DciLog(Direction::Uplink) => "dciLog, uplink",
            Self::Falcon => "FALCON",
            Self::NrScope => "NR-Scope",
        })
    }
}
