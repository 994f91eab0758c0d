//! NG-Scope's `.dciLog`: `tti rnti cell_prb ue_prb mcs1 rv1 tbs1 mcs2 rv2 tbs2 harq timestamp_us`,
//! and in the downlink `ndi1 ndi2`. Tabs between, and one at the end. A subframe without messages
//! is a line of zeroes.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::time::Duration;

use super::line::{BITS, FLAG, MCS, PRB, Problem, RNTI, number};
use super::{Block, Dci, Direction, Heard, Moment};

const fn columns(direction: Direction) -> usize {
    match direction {
        Direction::Downlink => 14,
        Direction::Uplink => 12,
    }
}

pub(super) fn read(direction: Direction, cell: u8, line: &str) -> Result<Heard, Problem> {
    let line = line.strip_suffix('\t').unwrap_or(line);
    let columns: Vec<&str> = line.split('\t').take(columns(direction) + 1).collect();
    let &[tti, rnti, cell_prb, prb, mcs1, rv1, tbs1, mcs2, rv2, tbs2, harq, time, ref more @ ..] =
        &columns[..]
    else {
        return Err(wrong_count(direction, line));
    };
    let ndi = match (direction, more) {
        (Direction::Uplink, []) => [None; 2],
        (Direction::Downlink, &[ndi1, ndi2]) => {
            [Some(number("ndi1", ndi1, FLAG)? == 1), Some(number("ndi2", ndi2, FLAG)? == 1)]
        }
        _ => return Err(wrong_count(direction, line)),
    };
    let tti = number("tti", tti, 0..=10_239)?;
    let time = number("timestamp_us", time, 0..=i64::MAX)?;
    let moment = Moment {
        time: Duration::from_micros(time.unsigned_abs()),
        cell,
        frame: (tti / 10) as u16,
        slot: (tti % 10) as u8,
    };
    let cell_prb = number("cell_prb", cell_prb, PRB)? as u16;
    let rnti = number("rnti", rnti, RNTI)? as u16;
    let prb = number("ue_prb", prb, PRB)? as u16;
    // A PHICH's refusal has 4 for a redundancy version.
    let rv = if direction == Direction::Uplink { 0..=4 } else { 0..=3 };
    let block = |mcs: (&'static str, &str),
                 version: (&'static str, &str),
                 size: (&'static str, &str),
                 ndi| {
        let block = Block {
            mcs: number(mcs.0, mcs.1, MCS)? as u8,
            rv: Some(number(version.0, version.1, rv.clone())? as u8),
            ndi,
            bits: number(size.0, size.1, BITS)? as u32,
        };
        Ok(block)
    };
    let first = block(("mcs1", mcs1), ("rv1", rv1), ("tbs1", tbs1), ndi[0])?;
    let second = block(("mcs2", mcs2), ("rv2", rv2), ("tbs2", tbs2), ndi[1])?;
    let harq = number("harq", harq, 0..=15)? as u8;
    if rnti == 0 && prb == 0 && first.bits == 0 && second.bits == 0 {
        return Ok(Heard::Nothing(moment));
    }
    Ok(Heard::Dci(Dci {
        moment,
        rnti,
        direction,
        prb,
        cell_prb: (cell_prb > 0).then_some(cell_prb),
        blocks: [Some(first), (second.bits > 0).then_some(second)],
        // Uplink lines always have 0.
        harq: (direction == Direction::Downlink).then_some(harq),
    }))
}

fn wrong_count(direction: Direction, line: &str) -> Problem {
    Problem::Columns { found: line.split('\t').count(), wanted: columns(direction) }
}

/// The subframe within a cycle, if the moment is one of LTE.
fn tti(moment: &Moment) -> Option<u16> {
    (moment.slot < 10 && moment.frame < 1024).then(|| moment.frame * 10 + u16::from(moment.slot))
}

pub(super) fn write(
    direction: Direction,
    heard: &Heard,
    out: &mut String,
) -> Result<bool, fmt::Error> {
    let (moment, dci) = match heard {
        Heard::Nothing(moment) => (moment, None),
        Heard::Dci(dci) => (&dci.moment, Some(dci)),
    };
    let Some(tti) = tti(moment) else { return Ok(false) };
    if dci.is_some_and(|dci| dci.direction != direction) {
        return Ok(false);
    }
    let (rnti, cell_prb, prb) =
        dci.map_or((0, 0, 0), |dci| (dci.rnti, dci.cell_prb.unwrap_or(0), dci.prb));
    write!(out, "{tti}\t{rnti}\t{cell_prb}\t{prb}\t")?;
    let blocks = dci.map_or([None; 2], |dci| dci.blocks).map(Option::unwrap_or_default);
    for Block { mcs, rv, bits, .. } in blocks {
        write!(out, "{mcs}\t{}\t{bits}\t", rv.unwrap_or(0))?;
    }
    let harq = match direction {
        Direction::Downlink => dci.and_then(|dci| dci.harq).unwrap_or(0),
        Direction::Uplink => 0,
    };
    write!(out, "{harq}\t{}\t", moment.time.as_micros())?;
    if direction == Direction::Downlink {
        for block in blocks {
            write!(out, "{}\t", u8::from(block.ndi.unwrap_or(false)))?;
        }
    }
    Ok(true)
}
