//! Blocks, PDUs and reports from a modem's records: the same reading of modelled modems and of real
//! captures.

use std::time::Duration;

use sounding_diag::LogRecord;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::mac::{Element, nr};
use sounding_diag::radio::{Slot, Tti};
use sounding_diag::record::{
    self, MacUplink, NrPdschStatus, NrUplinkBsr, NrUplinkSchedule, PdschStat, PuschTxReport,
};
use sounding_phy::lte::bsr_upper;
use sounding_phy::nr::bsr_upper_short;
use sounding_units::{Bytes, ModemInstant};

/// The bytes assumed for a report of the last, open range: its lower end.
const OPEN_ENDED: u64 = 150_000;

/// A transport block as it went over the air, once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Air {
    /// Nanoseconds of the air's own clock, which counts slots and never jumps.
    pub(super) at: u64,
    /// Slot of its frame.
    pub(super) slot: u8,
    /// HARQ process with its carrier and codeword; no record of LTE's uplink has it.
    pub(super) process: Option<u32>,
    /// New-data indicator, which toggles with each new block, if the record has it.
    pub(super) ndi: Option<bool>,
    /// It was sent before.
    pub(super) again: bool,
    /// Whether it arrived; only the downlink's records have it.
    pub(super) arrived: Option<bool>,
}

/// An RLC PDU with data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    /// Nanoseconds of the air's clock.
    pub(super) at: u64,
    /// The bearer.
    pub(super) bearer: u64,
    /// Sequence number as on the air.
    pub(super) sn: u32,
}

/// An uplink block of LTE's MAC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Nanoseconds of the air's clock.
    pub(super) at: u64,
    /// Bytes.
    pub(super) size: u64,
    /// The value of its report, if it has one.
    pub(super) told: Option<u64>,
}

/// All that is read.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) down: Vec<Air>,
    pub(super) up: Vec<Air>,
    /// Grants of LTE's uplink, which name the process that its transmissions do not.
    pub(super) grants: Vec<Air>,
    pub(super) down_data: Vec<Data>,
    pub(super) up_data: Vec<Data>,
    /// Downlink PDUs that the device requested again.
    pub(super) down_nacks: Vec<Data>,
    /// Uplink PDUs that the network requested again.
    pub(super) up_nacks: Vec<Data>,
    /// Buffer status reports: time, and the upper end of their range, in bytes.
    pub(super) reports: Vec<(u64, u64)>,
    /// LTE's uplink blocks as MAC fills them.
    pub(super) blocks: Vec<Sent>,
    /// Whether sequence numbers have 18 bits: NR's.
    pub(super) wide: bool,
    pub(super) lte: Clock,
    pub(super) nr: Clock,
    pub(super) numerology: u8,
}

/// Converts slot numbers to times without wrap: the stamps show the cycle of the frame numbers.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Stamp less time of the air at the first record.
    offset: Option<i128>,
}

/// Nanoseconds of 1024 frames. The first cycle with a record begins here.
pub(super) const TURN: u64 = 10_240_000_000;

impl Clock {
    fn date(&mut self, stamped: ModemInstant, within: Duration) -> u64 {
        let (stamp, within) = (i128::from(stamped.as_nanos()), within.as_nanos() as i128);
        let offset = *self.offset.get_or_insert(stamp - within);
        let turn = i128::from(TURN);
        let turns = (stamp - offset - within + turn / 2).div_euclid(turn);
        // The first cycle has the number one, so that earlier times in a record are representable
        // too.
        (within + (turns + 1).max(0) * turn) as u64
    }
}

impl Heard {
    /// Reads a record; other kinds, and undescribed ones, are ignored.
    pub(super) fn handle_log(&mut self, log: &LogRecord<'_>) {
        match log.code {
            PdschStat::CODE => self.pdsch(log),
            PuschTxReport::CODE => self.pusch(log),
            MacUplink::CODE => self.mac(log),
            NrPdschStatus::CODE => self.nr_pdsch(log),
            NrUplinkSchedule::CODE => self.nr_pusch(log),
            NrUplinkBsr::CODE => self.nr_reports(log),
            _ => self.described(log),
        }
    }

    fn tti(&mut self, log: &LogRecord<'_>, tti: Tti) -> u64 {
        self.lte.date(log.at, Duration::from_millis(tti.count().into()))
    }

    fn slot(&mut self, log: &LogRecord<'_>, frame: u16, slot: u8) -> u64 {
        let length = Duration::from_nanos(1_000_000 >> self.numerology);
        let within = Duration::from_millis(10) * u32::from(frame) + length * u32::from(slot);
        self.nr.date(log.at, within)
    }

    fn nr_slot(&mut self, log: &LogRecord<'_>, slot: Slot) -> u64 {
        self.numerology = slot.numerology().unwrap_or(self.numerology);
        self.slot(log, slot.frame(), slot.slot())
    }

    fn pdsch(&mut self, log: &LogRecord<'_>) {
        let Ok(stat) = PdschStat::parse(log.body) else { return };
        for subframe in stat.subframes() {
            let Some(tti) = subframe.tti else { continue };
            let at = self.tti(log, tti);
            for block in subframe.blocks() {
                let process = u32::from(subframe.cell) << 8 | u32::from(block.index) << 7;
                self.down.push(Air {
                    at,
                    slot: tti.subframe(),
                    process: Some(process | u32::from(block.harq)),
                    ndi: Some(block.ndi),
                    again: block.rv != 0,
                    arrived: Some(block.received),
                });
            }
        }
    }

    fn pusch(&mut self, log: &LogRecord<'_>) {
        let Ok(report) = PuschTxReport::parse(log.body) else { return };
        for tx in report.transmissions().filter(|tx| tx.dropped != Some(true)) {
            let Some(tti) = tx.tti else { continue };
            let at = self.tti(log, tti);
            self.up.push(Air {
                at,
                slot: tti.subframe(),
                process: None,
                ndi: None,
                again: tx.retx != 0,
                arrived: None,
            });
        }
    }

    fn mac(&mut self, log: &LogRecord<'_>) {
        let Ok(blocks) = MacUplink::parse(log.body) else { return };
        for block in blocks.blocks() {
            let Some(tti) = block.tti else { continue };
            let at = self.tti(log, tti);
            let mut sent = Sent { at, size: block.grant.count(), told: None };
            for (_, element) in block.pdu.elements() {
                let upper = |index| bsr_upper(index).map_or(OPEN_ENDED, Bytes::count);
                let told = match element {
                    Element::ShortBsr { index, .. } => upper(index),
                    Element::LongBsr(indexes) => indexes.into_iter().map(upper).sum(),
                    _ => continue,
                };
                self.reports.push((at, told));
                sent.told = Some(told);
            }
            self.blocks.push(sent);
        }
    }

    fn nr_pdsch(&mut self, log: &LogRecord<'_>) {
        let Ok(status) = NrPdschStatus::parse(log.body) else { return };
        for block in status.blocks() {
            let Some(slot) = block.slot else { continue };
            let at = self.nr_slot(log, slot);
            self.down.push(Air {
                at,
                slot: slot.slot(),
                process: Some(block.harq.into()),
                ndi: block.ndi,
                again: block.retx.is_some_and(|count| count > 0) || block.new == Some(false),
                arrived: Some(block.received),
            });
        }
    }

    fn nr_pusch(&mut self, log: &LogRecord<'_>) {
        let Ok(schedule) = NrUplinkSchedule::parse(log.body) else { return };
        for tx in schedule.transmissions() {
            let Some(slot) = tx.slot else { continue };
            let at = self.nr_slot(log, slot);
            self.up.push(Air {
                at,
                slot: slot.slot(),
                process: Some(u32::from(tx.carrier.unwrap_or(0)) << 8 | u32::from(tx.harq)),
                ndi: None,
                again: tx.new == Some(false) || tx.rv != 0,
                arrived: None,
            });
        }
    }

    fn nr_reports(&mut self, log: &LogRecord<'_>) {
        let Ok(reports) = NrUplinkBsr::parse(log.body) else { return };
        for report in reports.reports() {
            let (Some(slot), Some(nr::Element::ShortBsr { index, .. })) =
                (report.slot, &report.element)
            else {
                continue;
            };
            let at = self.nr_slot(log, slot);
            self.reports.push((at, bsr_upper_short(*index).map_or(OPEN_ENDED, Bytes::count)));
        }
    }

    /// Records that are read by the names of their fields.
    fn described(&mut self, log: &LogRecord<'_>) {
        let code = log.code.number();
        if !matches!(code, 0xB082 | 0xB092 | 0xB16C | 0xB84E | 0xB857 | 0xB869 | 0xB870) {
            return;
        }
        let mut found = Found::default();
        if record::decode(log, &mut found).is_err() {
            return;
        }
        self.wide |= code >= 0xB800;
        for fact in found.facts {
            let at = match code {
                ..0xB800 => {
                    let tti = Tti::new(fact.frame, fact.slot).unwrap_or_default();
                    self.tti(log, tti)
                }
                _ => self.slot(log, fact.frame, fact.slot),
            };
            let data = |sn| Data { at, bearer: fact.bearer, sn };
            match (code, fact.says) {
                (0xB082 | 0xB857, Says::Data(sn)) => self.down_data.push(data(sn)),
                (0xB092 | 0xB870, Says::Data(sn)) => self.up_data.push(data(sn)),
                (0xB092 | 0xB869, Says::Nack(sn)) => self.down_nacks.push(data(sn)),
                (0xB082 | 0xB84E, Says::Nack(sn)) => self.up_nacks.push(data(sn)),
                (_, Says::Grant { process, rv, offset }) => self.grants.push(Air {
                    at: at + u64::from(offset) * 1_000_000,
                    slot: fact.slot,
                    process: Some(process),
                    ndi: None,
                    again: rv != 0,
                    arrived: None,
                }),
                _ => {}
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Says {
    Data(u32),
    Nack(u32),
    Grant { process: u32, rv: u8, offset: u8 },
}

#[derive(Clone, Copy, Debug)]
struct Fact {
    frame: u16,
    slot: u8,
    bearer: u64,
    says: Says,
}

/// Picks PDUs and grants out of a record, by the names of lists and fields.
#[derive(Debug, Default)]
struct Found {
    lists: Vec<&'static str>,
    frame: u16,
    slot: u8,
    bearer: u64,
    grant: [u64; 4],
    facts: Vec<Fact>,
}

impl Found {
    fn say(&mut self, says: Says) {
        let Self { frame, slot, bearer, .. } = *self;
        self.facts.push(Fact { frame, slot, bearer, says });
    }
}

impl Sink for Found {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let number = match value {
            Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => number,
            _ => return,
        };
        let list = self.lists.last().copied().unwrap_or_default();
        match (list, name) {
            (_, "frame") => self.frame = number as u16,
            (_, "subframe" | "slot") => self.slot = number as u8,
            (_, "rb_config") => self.bearer = number,
            ("pdus", "sn") | (_, "rlc_sn" | "first_rlc_sn") => self.say(Says::Data(number as u32)),
            (_, "last_rlc_sn") => {
                let first = self.facts.last().map(|fact| fact.says);
                if !matches!(first, Some(Says::Data(sn)) if u64::from(sn) == number) {
                    self.say(Says::Data(number as u32));
                }
            }
            ("nacks", "sn") => self.say(Says::Nack(number as u32)),
            ("grants", "harq") => self.grant[0] = number,
            ("grants", "carrier") => self.grant[1] = number,
            ("grants", "k") => self.grant[2] = number,
            ("grants", "rv") => self.grant[3] = number,
            _ => {}
        }
    }

    fn begin_list(&mut self, name: &'static str) {
        self.lists.push(name);
    }

    fn begin_item(&mut self) {
        self.grant = [u64::MAX; 4];
    }

    fn end_item(&mut self) {
        if let ("grants", [harq, carrier, k, rv]) =
            (self.lists.last().copied().unwrap_or_default(), self.grant)
            && harq != u64::MAX
        {
            let process = (carrier << 8 | harq) as u32;
            self.say(Says::Grant { process, rv: rv as u8, offset: k as u8 });
        }
    }

    fn end_list(&mut self) {
        self.lists.pop();
    }
}
