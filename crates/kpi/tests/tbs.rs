//! The size of every LTE transport block in the shared captures, recomputed from the grant in its
//! record. Each block whose size differs is counted with the reason; blocks without a known reason
//! are listed with the rest.

use std::collections::{BTreeMap, HashMap};

use sounding_diag::capture::{Capture, Located};
use sounding_diag::layout::Value;
use sounding_diag::packet::Packet;
use sounding_diag::radio::{Modulation, Rnti, Tti};
use sounding_diag::record::{self, PdschBlock, PdschDemapper, PdschStat, PuschTx, PuschTxReport};
use sounding_diag::{LogCode, LogRecord};
use sounding_phy::lte::{self, McsTable, TbsIndex};
use sounding_units::{Bytes, Prb};

/// Hands over every record of every shared capture, with the number of the file.
fn each_record(mut sink: impl FnMut(usize, &LogRecord<'_>)) -> bool {
    let files = sounding_testdata::shared_files("captures");
    for (number, file) in files.iter().enumerate() {
        let bytes = std::fs::read(file).expect("readable");
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        while let Some(packet) = capture.poll_packet() {
            if let Ok(Located { packet: Packet::Log(record), .. }) = packet {
                sink(number, &record);
            }
        }
    }
    !files.is_empty()
}

/// How many blocks there were of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally(BTreeMap<&'static str, u32>);

impl Tally {
    fn add(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    fn assert(&self, wanted: &[(&'static str, u32)]) {
        assert_eq!(self, &Self(wanted.iter().copied().collect()));
    }
}

fn size(index: TbsIndex, prb: Prb, layers: u8) -> Option<Bytes> {
    // Captures are the one place where the rows for 256QAM on two layers meet what a network sent.
    let bits = lte::tbs_bits_unverified(index, prb, layers)?;
    Some(Bytes::new(u64::from(bits / 8)))
}

/// The size under an I_MCS, in the MCS table of either configuration.
fn downlink_sizes(i_mcs: u8, prb: Prb, layers: u8) -> impl Iterator<Item = Bytes> {
    [McsTable::Downlink, McsTable::Downlink256Qam]
        .into_iter()
        .filter_map(move |table| size(lte::mcs(table, i_mcs)?.1, prb, layers))
}

/// Sizes of paging, system information and random access responses.
fn is_broadcast(i_mcs: u8, wanted: Bytes) -> bool {
    [false, true].into_iter().any(|three_columns| {
        lte::tbs_bits_broadcast(i_mcs, three_columns)
            .is_some_and(|bits| Bytes::new(u64::from(bits / 8)) == wanted)
    })
}

/// Two blocks share the layers: one each of two, one and two of three, two each of four (TS 36.211
/// Table 6.3.3.2-1).
fn layers_of(block: usize, blocks: usize, layers: u8) -> u8 {
    match (blocks, layers, block) {
        (2, 3, 0) => 1,
        (2, 3, _) => 2,
        (2, layers, _) => layers / 2,
        (_, layers, _) => layers,
    }
}

/// One block of PDSCH statistics, which say MCS, resource blocks and layers.
fn pdsch_kind(
    block: &PdschBlock,
    (blocks, layers): (usize, u8),
    version: u8,
    sent: &mut HashMap<u8, Bytes>,
) -> &'static str {
    // Up to version 36 a size counts the CRC.
    let crc = if version <= 36 { Bytes::new(3) } else { Bytes::ZERO };
    let found = block.size - crc;
    let own = layers_of(block.index.into(), blocks, layers);
    let fits = |layers| downlink_sizes(block.mcs, block.rbs, layers).any(|size| size == found);
    let kind = match block.rnti {
        Rnti::Cell | Rnti::Temporary if block.mcs > 28 => {
            return if sent.get(&block.harq) == Some(&found) {
                "repeat: as large as the first"
            } else {
                "repeat of what was not captured"
            };
        }
        _ if fits(own) => "of the tables",
        // Both layers carry the same block: transmit diversity (TS 36.211 §6.3.3.3).
        _ if blocks == 1 && fits(1) => "of the tables, one layer over several antennas",
        Rnti::SystemInformation | Rnti::RandomAccess | Rnti::Paging
            if is_broadcast(block.mcs, found) =>
        {
            "broadcast"
        }
        _ => "unexplained",
    };
    sent.insert(block.harq, found);
    kind
}

#[test]
fn downlink_blocks_have_the_size_of_their_mcs_resource_blocks_and_layers() {
    let mut tally = Tally::default();
    let mut sent: HashMap<(usize, u8), HashMap<u8, Bytes>> = HashMap::new();
    let any = each_record(|file, log| {
        let Some(Ok(stat)) = (log.code == PdschStat::CODE).then(|| PdschStat::parse(log.body))
        else {
            return;
        };
        for subframe in stat.subframes() {
            let sent = sent.entry((file, subframe.cell)).or_default();
            let blocks = subframe.blocks().count();
            for block in subframe.blocks() {
                tally.add(pdsch_kind(&block, (blocks, subframe.layers), log.body[0], sent));
            }
        }
    });
    if any {
        tally.assert(&[
            ("of the tables", 21),
            ("of the tables, one layer over several antennas", 41),
            ("broadcast", 6),
            ("repeat: as large as the first", 3),
        ]);
    }
}

/// A round trip of HARQ later, or a few (TS 36.321 §7.7).
fn is_repeat(first: Tti, tti: Tti) -> bool {
    (8..64).contains(&tti.since(first))
}

/// One block of a demapper's configuration, which has resource blocks, layers and modulation but no
/// MCS: its size has to be that of one of the modulation's rows.
fn demapped_kind(
    (rnti, prb, layers): (Rnti, Prb, u8),
    found: Bytes,
    modulation: Option<Modulation>,
) -> &'static str {
    let order = modulation.map(Modulation::bits);
    let of_rows = (0..=28).any(|i_mcs| {
        [McsTable::Downlink, McsTable::Downlink256Qam].into_iter().any(|table| {
            lte::mcs(table, i_mcs).is_some_and(|(modulation, index)| {
                Some(modulation.order()) == order && size(index, prb, layers) == Some(found)
            })
        })
    });
    let common = matches!(rnti, Rnti::SystemInformation | Rnti::RandomAccess | Rnti::Paging);
    if of_rows {
        "of the tables"
    } else if common && (0..=26).any(|i_mcs| is_broadcast(i_mcs, found)) {
        "broadcast"
    } else {
        "unexplained"
    }
}

#[test]
fn demapped_blocks_have_a_size_of_their_modulation_resource_blocks_and_layers() {
    let mut tally = Tally::default();
    let mut sent: HashMap<(usize, Bytes), Vec<Tti>> = HashMap::new();
    let any = each_record(|file, log| {
        let parsed = (log.code == PdschDemapper::CODE).then(|| PdschDemapper::parse(log.body));
        let Some(Ok(demapper)) = parsed else { return };
        for assignment in demapper.assignments() {
            // One layer has no room for a second block: what version 144 has in its place is none.
            let room = if assignment.rank > 1 { 2 } else { 1 };
            let there = |size: &Bytes| *size > Bytes::ZERO;
            let blocks = assignment.sizes[..room].iter().filter(|size| there(size)).count();
            for (at, found) in
                assignment.sizes.into_iter().enumerate().filter(|(_, size)| there(size))
            {
                if at >= room {
                    tally.add("second block on one layer");
                    continue;
                }
                let layers = layers_of(at, blocks, assignment.rank);
                let grant = (assignment.rnti, assignment.rbs(), layers);
                let kind = demapped_kind(grant, found, assignment.modulations[at]);
                let Some(tti) = assignment.tti else { continue };
                let before = sent.entry((file, found)).or_default();
                tally.add(match kind {
                    // A reserved I_MCS defines no size: a repeat keeps that of the first
                    // transmission, whatever its grant.
                    "unexplained" if before.iter().any(|first| is_repeat(*first, tti)) => {
                        "repeat on other resource blocks"
                    }
                    // The smallest value stands for an unknown one.
                    "unexplained" if found == Bytes::new(2) => "repeat of what was not received",
                    kind => kind,
                });
                before.push(tti);
            }
        }
    });
    if any {
        tally.assert(&[
            ("of the tables", 13_464),
            ("broadcast", 232),
            ("repeat on other resource blocks", 13),
            ("repeat of what was not received", 4),
            ("second block on one layer", 20),
        ]);
    }
}

/// One uplink block, with the resource blocks, modulation and code rate that reports give.
fn pusch_kind(tx: &PuschTx) -> &'static str {
    let Some(modulation) = tx.modulation.and_then(|m| lte::Modulation::of_order(m.bits())) else {
        return "unexplained";
    };
    let of_row = |(sent, index): (lte::Modulation, TbsIndex)| {
        sent == modulation && size(index, tx.rbs, 1) == Some(tx.size)
    };
    let rows = || (0..=28).filter_map(|i_mcs| lte::mcs(McsTable::Uplink, i_mcs));
    let nearest = lte::uplink_tbs_index(tx.rbs, modulation, tx.code_rate_1024);
    if tx.size == Bytes::ZERO {
        // A report of channel quality alone (TS 36.213 §8.6.2).
        "no block"
    } else if nearest.and_then(|index| size(index, tx.rbs, 1)) == Some(tx.size) {
        "of the tables"
    } else if rows().any(of_row) {
        // Reports and acknowledgements in the block take channel bits, and its rate points to the
        // row beside.
        "of the tables, one row beside its code rate"
    } else if rows().any(|(sent, index)| of_row((lte::without_uplink_64qam(sent), index))) {
        "of the tables, 64QAM row sent as 16QAM"
    } else if tx.retx > 0 {
        // A repeat keeps the size of the first transmission on however many resource blocks it is
        // granted.
        "repeat on other resource blocks"
    } else {
        "unexplained"
    }
}

#[test]
fn uplink_blocks_have_the_size_of_their_modulation_code_rate_and_resource_blocks() {
    let mut tally = Tally::default();
    let any = each_record(|_, log| {
        let parsed = (log.code == PuschTxReport::CODE).then(|| PuschTxReport::parse(log.body));
        let Some(Ok(report)) = parsed else { return };
        for tx in report.transmissions() {
            tally.add(pusch_kind(&tx));
        }
    });
    if any {
        tally.assert(&[
            ("of the tables", 38_156),
            ("of the tables, one row beside its code rate", 537),
            ("of the tables, 64QAM row sent as 16QAM", 486),
            ("no block", 69),
            ("repeat on other resource blocks", 1),
        ]);
    }
}

/// Downlink control information as ML1 hands it on has no size, but both I_MCS and I_TBS.
#[test]
fn granted_rows_are_those_of_the_granted_mcs() {
    const DCI: LogCode = LogCode::new(0xB16C);
    let mut tally = Tally::default();
    let any = each_record(|_, log| {
        if log.code != DCI {
            return;
        }
        let version = u32::from(log.body[0]);
        let layouts = record::layouts(DCI).expect("it is described");
        let Some(layout) = layouts.iter().find(|layout| layout.describes(version)) else { return };
        let column = |path: &'static str| {
            let mut column = Vec::new();
            let probe = layout.probe(path).expect("every version has it");
            let read = probe.read(log.body, |_, value| {
                let Value::Uint(number) = value else { panic!("{path} is a number") };
                column.push(number as u8);
            });
            read.map(|_| column).unwrap_or_default()
        };
        let [schemes, rows, blocks] =
            ["subframes.grants.mcs", "subframes.grants.tbs_index", "subframes.grants.rbs"]
                .map(column);
        for ((i_mcs, row), prb) in schemes.into_iter().zip(rows).zip(blocks) {
            let found = lte::mcs(McsTable::Uplink, i_mcs).map(|(_, index)| index.row());
            let in_table =
                TbsIndex::new(row).and_then(|index| size(index, Prb::new(prb.into()), 1));
            tally.add(match (found, in_table) {
                (Some(wanted), Some(_)) if wanted == row => "of the tables",
                (None, _) => "repeat",
                _ => "unexplained",
            });
        }
    });
    if any {
        tally.assert(&[("of the tables", 9), ("repeat", 1)]);
    }
}
