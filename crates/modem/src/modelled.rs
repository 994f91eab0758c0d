//! The records that a modem would write for an uplink of given capacity: for links from a trace or
//! a seed, which have no modem.

use std::time::Duration;

use sounding_diag::hdlc;
use sounding_diag::mac::MacPdu;
use sounding_diag::radio::{Decibels, Modulation, Rnti, Tti};
use sounding_diag::record::{
    BsrEvent, BsrTrigger, BufferSampleRepr, ChannelBacklog, MacUplink, PuschTx, PuschTxReport,
    UplinkBlock, UplinkBuffer,
};
use sounding_diag::{LogCode, LogRecord};
use sounding_phy::lte::{self, McsTable};
use sounding_units::{Bytes, ModemInstant, Prb};

/// Interval of each record, in ms. Real modems write PUSCH reports every 10 to 25 ms, MAC blocks
/// every 100 ms and the buffer status every 40 ms; BISCAY §4 has the most frequent record every 10
/// ms.
const PUSCH_EVERY: u64 = 10;
const MAC_EVERY: u64 = 100;
const BUFFER_EVERY: u64 = 40;

/// A report holds this many transmissions at most (its count has five bits).
const PUSCH_MOST: usize = 31;

/// Writes what a modem would log while the network grants it `bytes_per_ms`, IP bytes in each
/// millisecond from `begin` on, and it always has more to send.
///
/// `ip_share_permille` is the part of a transport block that is IP. Transport blocks have the sizes
/// of TS 36.213 Table 7.1.7.2.1-1. The next block corrects the rounding of the previous one, so the
/// sum is exact to a block.
pub fn uplink_capture(
    bytes_per_ms: &[u64],
    begin: ModemInstant,
    ip_share_permille: u32,
) -> Vec<u8> {
    let mut log = UplinkLog::new(begin);
    let mut scheduler = Scheduler::default();
    for (ms, &bytes) in (0..).zip(bytes_per_ms) {
        let wanted = bytes * 1000 / u64::from(ip_share_permille.max(1));
        scheduler.grant(wanted, |block| log.handle_grant(ms, block));
        log.handle_end_of_subframe(ms);
    }
    log.bytes
}

/// One transport block and where it is sent.
#[derive(Clone, Copy, Debug)]
struct Block {
    carrier: u8,
    prb: u16,
    modulation: Modulation,
    code_rate_1024: u16,
    size: u64,
}

/// Chooses blocks of legal sizes for a wanted number of bytes.
#[derive(Debug)]
struct Scheduler {
    /// Every block one carrier can be granted, smallest first.
    blocks: Vec<Block>,
    /// Requested bytes that are not granted yet; negative if a block was larger than requested.
    owed: i64,
}

impl Default for Scheduler {
    fn default() -> Self {
        let mut blocks = Vec::new();
        for i_mcs in 0..=28 {
            let Some((order, index)) = lte::mcs(McsTable::Uplink, i_mcs) else { continue };
            let Some(modulation) = Modulation::from_bits(u64::from(order.order())) else {
                continue;
            };
            for prb in (1..=100).filter(|&prb| is_dft_size(prb)) {
                let Some(bits) = lte::tbs_bits(index, Prb::new(prb), 1) else { continue };
                let channel = u32::from(prb) * 144 * u32::from(order.order());
                let code_rate_1024 = ((bits + 24) * 1024 / channel) as u16;
                // Above this the block cannot be decoded even without noise (TS 36.213 §7.1.7).
                if code_rate_1024 <= 952 {
                    blocks.push(Block {
                        carrier: 0,
                        prb,
                        modulation,
                        code_rate_1024,
                        size: u64::from(bits / 8),
                    });
                }
            }
        }
        blocks.sort_by_key(|block| (block.size, block.prb));
        blocks.dedup_by_key(|block| block.size);
        Self { blocks, owed: 0 }
    }
}

/// Uplink allocations have 2^a 3^b 5^c resource blocks (TS 36.211 §5.3.3).
fn is_dft_size(prb: u16) -> bool {
    let rest = [2, 3, 5].iter().fold(prb, |mut rest, factor| {
        while rest % factor == 0 {
            rest /= factor;
        }
        rest
    });
    rest == 1
}

impl Scheduler {
    /// Number of uplink carriers: a report has two bits for it.
    const CARRIERS: u8 = 4;

    fn grant(&mut self, wanted: u64, mut take: impl FnMut(Block)) {
        self.owed += wanted as i64;
        if wanted == 0 {
            return;
        }
        for carrier in 0..Self::CARRIERS {
            let fits = self.blocks.partition_point(|block| block.size as i64 <= self.owed);
            let Some(block) = fits.checked_sub(1).map(|i| self.blocks[i]) else { return };
            self.owed -= block.size as i64;
            take(Block { carrier, ..block });
            // The rest is smaller than a block, or the carrier is full and the next one continues.
            if fits < self.blocks.len() {
                return;
            }
        }
        // More than all carriers hold: a real network would not have offered it either.
        self.owed = 0;
    }
}

/// The written records.
struct UplinkLog {
    begin: ModemInstant,
    bytes: Vec<u8>,
    transmissions: Vec<PuschTx>,
    blocks: Vec<UplinkBlock<'static>>,
}

impl UplinkLog {
    fn new(begin: ModemInstant) -> Self {
        Self { begin, bytes: Vec::new(), transmissions: Vec::new(), blocks: Vec::new() }
    }

    fn handle_grant(&mut self, ms: u64, block: Block) {
        let tti = tti(ms);
        self.transmissions.push(PuschTx {
            tti: Some(tti),
            carrier: block.carrier,
            retx: 0,
            rv: 0,
            start_rb: 0,
            rbs: Prb::new(block.prb),
            size: Bytes::new(block.size),
            code_rate_1024: block.code_rate_1024,
            modulation: Some(block.modulation),
            power: Decibels::whole(10),
            dropped: Some(false),
        });
        self.blocks.push(UplinkBlock {
            tti: Some(tti),
            cell: block.carrier,
            // Synchronous HARQ has eight processes (TS 36.213 §8).
            harq: (ms % 8) as u8,
            rnti: Rnti::Cell,
            grant: Bytes::new(block.size),
            padding: Bytes::ZERO,
            rlc_pdus: 1,
            event: BsrEvent::None,
            trigger: BsrTrigger::None,
            pdu: MacPdu::new(&[], Rnti::Cell, true),
        });
        if self.transmissions.len() == PUSCH_MOST {
            self.report_pusch(ms);
        }
    }

    fn handle_end_of_subframe(&mut self, ms: u64) {
        let due = |every: u64| (ms + 1).is_multiple_of(every);
        if due(PUSCH_EVERY) && !self.transmissions.is_empty() {
            self.report_pusch(ms);
        }
        if due(MAC_EVERY) && !self.blocks.is_empty() {
            let blocks = std::mem::take(&mut self.blocks);
            for blocks in blocks.chunks(255) {
                self.write(ms, MacUplink::CODE, |out| {
                    MacUplink::emit(blocks, out).expect("blocks of the tables fit their fields");
                });
            }
        }
        if due(BUFFER_EVERY) {
            // The device always has more to send; how much more does not matter here.
            let waiting = ChannelBacklog {
                channel: 3,
                priority: 13,
                new: Bytes::new(50_000),
                retx: Bytes::ZERO,
                control: Bytes::ZERO,
            };
            let sample = BufferSampleRepr { tti: Some(tti(ms)), channels: &[waiting] };
            self.write(ms, UplinkBuffer::CODE, |out| {
                UplinkBuffer::emit(&[sample], out).expect("one channel fits");
            });
        }
    }

    fn report_pusch(&mut self, ms: u64) {
        let transmissions = std::mem::take(&mut self.transmissions);
        self.write(ms, PuschTxReport::CODE, |out| {
            PuschTxReport::emit(1, tti(ms), &transmissions, out)
                .expect("transmissions of the tables fit their fields");
        });
    }

    fn write(&mut self, ms: u64, code: LogCode, emit: impl FnOnce(&mut Vec<u8>)) {
        // A record is stamped when its last subframe is over.
        let at = self.begin + Duration::from_millis(ms + 1);
        let mut body = Vec::new();
        emit(&mut body);
        let mut payload = Vec::new();
        let record = LogRecord { code, at, stamp: at.to_diag(), radio: None, body: &body };
        record.emit(&mut payload).expect("records of this size fit a frame");
        hdlc::encode(&payload, &mut self.bytes);
    }
}

fn tti(ms: u64) -> Tti {
    Tti::from_count(ms % u64::from(Tti::CYCLE)).expect("a count within the cycle")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_kpi::{Direction, Kpi, Layer};

    fn granted(capture: &[u8], layer: Layer) -> (u64, usize) {
        let mut reader = sounding_diag::capture::Capture::new(capture).expect("a capture");
        let (mut bytes, mut mismatched) = (0, 0);
        while let Some(packet) = reader.poll_packet() {
            let sounding_diag::packet::Packet::Log(record) = packet.expect("sound").packet else {
                continue;
            };
            sounding_kpi::extract(&record, |kpi| {
                if let Kpi::Grant(grant) = kpi
                    && grant.layer == layer
                {
                    assert_eq!(grant.direction, Direction::Uplink);
                    bytes += grant.size.count();
                    let formula = grant.allocation.and_then(|allocation| allocation.size());
                    mismatched += usize::from(formula.is_some_and(|size| size != grant.size));
                }
            })
            .expect("described");
        }
        (bytes, mismatched)
    }

    #[test]
    fn the_grants_add_up_to_what_was_wanted() {
        for per_ms in [100, 1504, 9000, 30_000] {
            let capture = uplink_capture(&[per_ms; 1000], ModemInstant::from_nanos(1 << 60), 1000);
            let wanted = per_ms * 1000;
            for layer in [Layer::Phy, Layer::Mac] {
                let (bytes, _) = granted(&capture, layer);
                assert!(
                    bytes.abs_diff(wanted) < 3 * per_ms + 10_000,
                    "{layer:?}: {bytes} of {wanted}"
                );
            }
        }
    }

    #[test]
    fn the_formula_gives_the_size_of_every_block() {
        let rising: Vec<u64> = (0..2000).map(|ms| ms * 4).collect();
        let capture = uplink_capture(&rising, ModemInstant::from_nanos(1 << 60), 950);
        let (bytes, mismatched) = granted(&capture, Layer::Phy);
        assert!(bytes > 0);
        assert_eq!(mismatched, 0);
    }

    #[test]
    fn an_outage_has_no_grants_but_a_backlog() {
        let capture = uplink_capture(&[0; 200], ModemInstant::from_nanos(1 << 60), 950);
        assert_eq!(granted(&capture, Layer::Phy).0, 0);
        assert!(!capture.is_empty());
    }
}
