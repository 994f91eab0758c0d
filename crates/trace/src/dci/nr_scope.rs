//! NR-Scope's CSV. Its header names the columns. Formats 1_0 and 1_1 are assignments, all others
//! grants.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::line::{BITS, FLAG, FRAME, MCS, PRB, Problem, RNTI, number, seconds};
use super::{Block, Dci, Direction, Heard, Moment};

/// The columns, as NR-Scope writes them.
pub(super) const HEADER: &str = "timestamp,system_frame_index,slot_index,rnti,rnti_type,dci_format,k,mapping,time_start,\
    time_length,frequency_start,frequency_length,nof_dmrs_cdm_groups,beta_dmrs,nof_layers,n_scid,tb_scaling_field,\
    modulation,mcs_index,transport_block_size,code_rate,redundancy_version,new_data_indicator,nof_re,nof_bits,mcs_table,\
    xoverhead,harq_id,downlink_assignment_index,tpc,pucch_resource,harq_feedback,bwp,ports,carrier_index";

/// The columns that are read.
const READ: [&str; 12] = [
    "timestamp",
    "system_frame_index",
    "slot_index",
    "rnti",
    "dci_format",
    "frequency_length",
    "mcs_index",
    "transport_block_size",
    "redundancy_version",
    "new_data_indicator",
    "harq_id",
    CARRIER,
];

/// Versions for one carrier have no such column.
const CARRIER: &str = "carrier_index";

/// The positions of the columns that this reader uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns([Option<usize>; READ.len()]);

impl Columns {
    pub(super) fn of(header: &str) -> Result<Self, Problem> {
        let mut places = [None; READ.len()];
        for (place, column) in places.iter_mut().zip(READ) {
            *place = header.split(',').position(|name| name.trim() == column);
            if place.is_none() && column != CARRIER {
                return Err(Problem::Header { column });
            }
        }
        Ok(Self(places))
    }

    /// Reads a line. Its carrier is `cell`, unless a column has it.
    pub(super) fn read(&self, cell: u8, line: &str) -> Result<Heard, Problem> {
        let cells: Vec<&str> = line.split(',').collect();
        let wanted = self.0.iter().flatten().max().map_or(0, |last| last + 1);
        let mut values = [""; READ.len()];
        for (value, &place) in values.iter_mut().zip(&self.0) {
            let Some(place) = place else { continue };
            let found = cells.get(place);
            *value = found.ok_or(Problem::Columns { found: cells.len(), wanted })?.trim();
        }
        let [time, frame, slot, rnti, format, prb, mcs, bits, rv, ndi, harq, carrier] = values;
        let moment = Moment {
            time: seconds("timestamp", time)?,
            cell: match self.0.last() {
                Some(None) => cell,
                _ => number(CARRIER, carrier, 0..=255)? as u8,
            },
            frame: number("system_frame_index", frame, FRAME)? as u16,
            slot: number("slot_index", slot, 0..=159)? as u8,
        };
        let block = Block {
            mcs: number("mcs_index", mcs, MCS)? as u8,
            rv: Some(number("redundancy_version", rv, 0..=3)? as u8),
            ndi: Some(number("new_data_indicator", ndi, FLAG)? == 1),
            bits: number("transport_block_size", bits, BITS)? as u32,
        };
        let down = matches!(format, "1_0" | "1_1");
        Ok(Heard::Dci(Dci {
            moment,
            rnti: number("rnti", rnti, RNTI)? as u16,
            direction: if down { Direction::Downlink } else { Direction::Uplink },
            prb: number("frequency_length", prb, PRB)? as u16,
            cell_prb: None,
            blocks: [Some(block), None],
            harq: Some(number("harq_id", harq, 0..=31)? as u8),
        }))
    }
}

pub(super) fn write(heard: &Heard, out: &mut String) -> Result<bool, fmt::Error> {
    let Heard::Dci(dci) = heard else { return Ok(false) };
    let Moment { time, cell, frame, slot } = dci.moment;
    // NR has a second block with more than four layers only (TS 38.211 §7.3.1.3).
    let [Some(block), None] = dci.blocks else { return Ok(false) };
    for (at, column) in HEADER.split(',').enumerate() {
        if at > 0 {
            out.push(',');
        }
        match column {
            "timestamp" => write!(out, "{}.{:06}", time.as_secs(), time.subsec_micros())?,
            "system_frame_index" => write!(out, "{frame}")?,
            "slot_index" => write!(out, "{slot}")?,
            "rnti" => write!(out, "{}", dci.rnti)?,
            "rnti_type" => out.push_str("c-rnti"),
            "dci_format" => out.push_str(match dci.direction {
                Direction::Downlink => "1_1",
                Direction::Uplink => "0_1",
            }),
            "frequency_length" => write!(out, "{}", dci.prb)?,
            "mcs_index" => write!(out, "{}", block.mcs)?,
            "transport_block_size" => write!(out, "{}", block.bits)?,
            "redundancy_version" => write!(out, "{}", block.rv.unwrap_or(0))?,
            "new_data_indicator" => write!(out, "{}", u8::from(block.ndi.unwrap_or(false)))?,
            "harq_id" => write!(out, "{}", dci.harq.unwrap_or(0))?,
            "carrier_index" => write!(out, "{cell}")?,
            // Unknown values stay empty.
            _ => {}
        }
    }
    Ok(true)
}
