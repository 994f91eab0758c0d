//! What reading the modem costs (Gandalf §4.2 and Appendices A and C): Figs. 13 and 14, and Tables
//! 2, 7 and 8.

use sounding_diag::LogCode;
use sounding_diag::capture::{Format, Located, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::record::CODES;
use sounding_experiment::plan::Wrong;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Sounder};
use sounding_testbed::cpu::this_thread;
use sounding_testbed::overhead::TABLE_8;

use super::{Figures, Kind, Made, Measure, Row, Short};

/// Diagnostic data and the time to read it as events, as a part of one core of this machine; and
/// kinds of messages.
pub(super) const COLUMNS: &[&str] = &["Mbit/s", "records/s", "CPU %", "messages"];

/// What Fig. 13 gives for the messages that Gandalf needs.
const MOST_MBIT: f64 = 1.0;

/// Table 7, in its order: PDSCH status, DCI, RLC status of the downlink, data of the uplink, the
/// other way round, uplink blocks and reports, RRC for its three messages, and the uplink's
/// schedule.
const TABLE_7: [u16; 10] =
    [0xB887, 0xB885, 0xB84E, 0xB870, 0xB869, 0xB857, 0xB872, 0xB873, 0xB821, 0xB883];
/// Messages that share a code with another one of their table.
const RRC_OF_7: usize = 3;
const RRC_OF_8: usize = 2;

/// Codes of NR begin here, those of LTE are below (docs/reference/diag.md).
const LTE_CODES: std::ops::Range<u16> = 0xB000..0xB800;
const NR_CODES: std::ops::Range<u16> = 0xB800..0xC000;

/// Those of Fig. 13's rates that the cell carries, Mbit/s.
const LTE_RATES: &[u32] = &[50, 100];
const NR_RATES: &[u32] = &[50, 100, 150, 200];

/// Carriers that carry them.
const LTE_CARRIERS: &str = "cell.carriers=[{ prb = 100, qam256 = true }, { prb = 100, qam256 = true }, \
     { prb = 100, qam256 = true }, { prb = 100, qam256 = true }]";
const NR_CARRIERS: &str = "cell.carriers=[{ rat = \"nr\", numerology = 1, tdd = \"DDDDDDDSUU\", prb = 273, \
     qam256 = true, frequency_mhz = 3550.0 }]";

const MESSAGES: [(&str, Messages); 4] = [
    ("Table 2: LTE messages", Messages::Range(LTE_CODES)),
    ("Table 2: 5G messages", Messages::Range(NR_CODES)),
    ("Table 7: of 12 messages of 5G", Messages::Of(&TABLE_7, RRC_OF_7)),
    ("Table 8: of 12 messages of LTE", Messages::Of(&TABLE_8, RRC_OF_8)),
];

enum Messages {
    /// All that are described, of these codes.
    Range(std::ops::Range<u16>),
    /// Those of a table, one of whose codes stands for so many.
    Of(&'static [u16], usize),
}

impl Messages {
    fn count(&self) -> usize {
        match self {
            Self::Range(range) => {
                CODES.iter().filter(|code| range.contains(&code.number())).count()
            }
            Self::Of(codes, of_rrc) => {
                let known = codes.iter().filter(|code| CODES.contains(&LogCode::new(**code)));
                let is_rrc = |code: &u16| matches!(code, 0xB0C0 | 0xB821);
                known.map(|code| if is_rrc(code) { *of_rrc } else { 1 }).sum()
            }
        }
    }
}

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for (name, _) in MESSAGES {
        kinds.push(Kind {
            name: name.to_owned(),
            sets: Vec::new(),
            measure: Measure::Own(messages),
        });
    }
    for (rat, carriers, rates) in [("LTE", LTE_CARRIERS, LTE_RATES), ("5G", NR_CARRIERS, NR_RATES)]
    {
        for rate in rates {
            for wanted in ["all", "Gandalf's"] {
                let flow = format!(
                    "flows=[{{ name = \"flow\", device = \"phone\", direction = \"down\", \
                     traffic = {{ kind = \"datagrams\", rate = \"{rate}Mbit\" }} }}]"
                );
                let level = "cell.devices.phone.channel.levels=[{ at_s = 0.0, sinr_db = 28.0 }]";
                let sets = vec![carriers.to_owned(), flow, level.to_owned()];
                let name = format!("Figs. 13 and 14: {rat}, {rate} Mbit/s down, {wanted} messages");
                kinds.push(Kind { name, sets, measure: Measure::Own(load) });
            }
        }
    }
    kinds
}

fn messages(kind: &Kind, _: &[String], _: u64) -> Result<Figures, Wrong> {
    let of = MESSAGES.iter().find(|(name, _)| *name == kind.name);
    Ok(vec![("messages", of.map_or(f64::NAN, |(_, messages)| messages.count() as f64))])
}

fn load(kind: &Kind, sets: &[String], seed: u64) -> Result<Figures, Wrong> {
    let Made { observed, .. } = Made::of(kind, sets, seed, true)?;
    let wanted: Option<Vec<u16>> =
        kind.name.contains("Gandalf's").then(|| TABLE_8.into_iter().chain(TABLE_7).collect());
    let span = observed.span.as_secs_f64();
    let mut records = 0_u64;
    let mut kept = Vec::new();
    let mut reader = Reader::new();
    for (at, bytes) in observed.diag.iter().flatten() {
        let mut input = bytes.as_slice();
        let mut out = Vec::new();
        while let Some(packet) = reader.poll_packet(&mut input) {
            let Ok(Located { packet, .. }) = packet else { continue };
            let Packet::Log(log) = &packet else { continue };
            if wanted.as_ref().is_none_or(|wanted| wanted.contains(&log.code.number())) {
                records += 1;
                // It came in such a frame, so it fits into one.
                let _ = Format::Hdlc.emit(&packet, &mut out);
            }
        }
        kept.push((*at, out));
    }
    let bytes: usize = kept.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut sounder = Sounder::new(Config::new(Direction::Downlink)).with_delays();
    let before = this_thread();
    for (at, bytes) in &kept {
        sounder.handle_bytes(Arrival::At(*at), bytes, |_, _| {});
        while sounder.poll_delay().is_some() {}
    }
    let took = this_thread().saturating_sub(before);
    Ok(vec![
        ("Mbit/s", bytes as f64 * 8e-6 / span),
        ("records/s", records as f64 / span),
        ("CPU %", 100.0 * took.as_secs_f64() / span),
    ])
}

/// Rows of Gandalf's messages that are more than the paper's, and tables that are not whole.
pub(super) fn short(rows: &[Row]) -> Short {
    let mut all = Vec::new();
    for row in rows {
        let (messages, load) = (row.figure("messages"), row.figure("Mbit/s"));
        let lacking =
            [("Table 2: LTE", 99.0), ("Table 2: 5G", 60.0), ("Table 7", 12.0), ("Table 8", 12.0)];
        let lacks = lacking.iter().any(|(of, least)| row.name.starts_with(of) && messages < *least);
        if lacks {
            all.push((row.name.clone(), vec!["fewer messages".to_owned()]));
        }
        if row.name.contains("Gandalf's") && load >= MOST_MBIT {
            all.push((row.name.clone(), vec!["more diagnostic data".to_owned()]));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_messages_of_the_papers_tables_but_one_are_described() {
        let count = |name: &str| {
            let found = MESSAGES.iter().find(|(of, _)| of.starts_with(name));
            found.map_or(0, |(_, messages)| messages.count())
        };
        assert_eq!((count("Table 7"), count("Table 8")), (12, 11));
    }

    #[test]
    fn more_data_than_the_papers_is_a_miss() {
        let row = |name: &str, mbit: f64| Row {
            name: name.to_owned(),
            figures: [("Mbit/s".to_owned(), mbit)].into(),
        };
        let rows = [
            row("Figs. 13 and 14: LTE, 50 Mbit/s down, Gandalf's messages", 1.2),
            row("Figs. 13 and 14: LTE, 50 Mbit/s down, all messages", 1.2),
            row("Figs. 13 and 14: 5G, 50 Mbit/s down, Gandalf's messages", 0.9),
        ];
        let short = short(&rows);
        assert_eq!(short.len(), 1);
        assert_eq!(short[0].0, rows[0].name);
    }
}
