//! FALCON's DCI file: `time sfn subframe rnti direction mcs prb tbs tbs0 tbs1 format ndi0 ndi1 harq
//! ncce level cfi histogram bits hex`. The direction is 1 down and 0 up, a size of −1 is no block,
//! and formats count from 1.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::line::{BITS, FRAME, MCS, PRB, Problem, RNTI, number, seconds};
use super::{Block, Dci, Direction, Heard, Moment};

const COLUMNS: usize = 20;

pub(super) fn read(cell: u8, line: &str) -> Result<Heard, Problem> {
    // The message itself may be absent.
    let line = line.strip_suffix('\t').unwrap_or(line);
    let columns: Vec<&str> = line.split('\t').take(COLUMNS + 1).collect();
    let count = columns.len();
    let &[time, frame, subframe, rnti, direction, mcs, prb, _, tbs0, tbs1, _, ndi0, ndi1, harq, ..] =
        &columns[..]
    else {
        return Err(Problem::Columns { found: count, wanted: COLUMNS });
    };
    if !(COLUMNS - 1..=COLUMNS).contains(&count) {
        return Err(Problem::Columns { found: line.split('\t').count(), wanted: COLUMNS });
    }
    let moment = Moment {
        time: seconds("time", time)?,
        cell,
        frame: number("sfn", frame, FRAME)? as u16,
        slot: number("subframe", subframe, 0..=9)? as u8,
    };
    let mcs = number("mcs", mcs, MCS)? as u8;
    let block = |size: (&'static str, &str), ndi: (&'static str, &str)| {
        let bits = number(size.0, size.1, -1..=*BITS.end())?;
        let ndi = number(ndi.0, ndi.1, -1..=1)?;
        let ndi = (ndi >= 0).then_some(ndi == 1);
        Ok((bits > 0).then_some(Block { mcs, rv: None, ndi, bits: bits as u32 }))
    };
    let blocks = [block(("tbs0", tbs0), ("ndi0", ndi0))?, block(("tbs1", tbs1), ("ndi1", ndi1))?];
    let down = number("direction", direction, 0..=1)? == 1;
    Ok(Heard::Dci(Dci {
        moment,
        rnti: number("rnti", rnti, RNTI)? as u16,
        direction: if down { Direction::Downlink } else { Direction::Uplink },
        prb: number("prb", prb, PRB)? as u16,
        cell_prb: None,
        // A single block is the first.
        blocks: if let [None, second] = blocks { [second, None] } else { blocks },
        harq: Some(number("harq", harq, 0..=31)? as u8),
    }))
}

pub(super) fn write(heard: &Heard, out: &mut String) -> Result<bool, fmt::Error> {
    let Heard::Dci(dci) = heard else { return Ok(false) };
    let Moment { time, frame, slot, .. } = dci.moment;
    let [first, second] = dci.blocks;
    if slot > 9 || frame > 1023 {
        return Ok(false);
    }
    let (seconds, micros) = (time.as_secs(), time.subsec_micros());
    let down = dci.direction == Direction::Downlink;
    // Formats 0, 1A and 2, which count 0, 2 and 6 (TS 36.212 §5.3.3.1), and one more each.
    let format = match (down, second) {
        (false, _) => 1,
        (true, None) => 3,
        (true, Some(_)) => 7,
    };
    let mcs = first.map_or(0, |block| block.mcs);
    let size = |block: Option<Block>| block.map_or(-1, |block| i64::from(block.bits));
    let ndi = |block: Option<Block>| block.and_then(|block| block.ndi).map_or(-1, i64::from);
    let sum: u32 = dci.blocks.iter().flatten().map(|block| block.bits).sum();
    write!(out, "{seconds}.{micros:06}\t{frame:04}\t{slot}\t{}\t{}", dci.rnti, u8::from(down))?;
    write!(out, "\t{mcs}\t{}\t{sum}\t{}\t{}\t{format}", dci.prb, size(first), size(second))?;
    write!(out, "\t{}\t{}\t{}", ndi(first), ndi(second), dci.harq.unwrap_or(0))?;
    // Its place on the control channel, and its bits, are not kept.
    out.push_str("\t0\t0\t0\t0\t0\t0");
    Ok(true)
}
