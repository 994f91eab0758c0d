use sounding_phy::lte::{self, BsrTable, CqiTable, McsTable, Reserved, SubframeKind, TbsIndex};
use sounding_phy::lte::{TddConfig, timing};
use sounding_phy::{Allowed, Modulation};
use sounding_units::{Bytes, Prb};

use super::csv::{list, number, some, table};

fn index(row: u8) -> TbsIndex {
    TbsIndex::new(row).expect("a row")
}

#[test]
fn sizes_on_one_layer() {
    let Some(rows) = table("lte_36213_7.1.7.2.1-1_tbs") else { return };
    assert_eq!(rows.len(), usize::from(TbsIndex::COUNT));
    for row in rows {
        assert_eq!(row.len(), 111);
        for (prb, cell) in (1..).zip(&row[1..]) {
            let bits = lte::tbs_bits(index(some(&row[0])), Prb::new(prb), 1);
            assert_eq!(bits, number(cell), "I_TBS {}, {prb} PRB", row[0]);
        }
    }
}

/// Every row of sizes and blocks whose size on several layers is translated, and the translation.
fn translated(layers: u8) -> Vec<(u32, Option<u32>, Option<u32>)> {
    let mut found = Vec::new();
    for row in (0..TbsIndex::COUNT).map(index) {
        for prb in (110 / u16::from(layers) + 1..=110).map(Prb::new) {
            let one = lte::tbs_bits(row, prb, 1).expect("in the table");
            found.push((
                one,
                lte::tbs_bits(row, prb, layers),
                lte::tbs_bits_unverified(row, prb, layers),
            ));
        }
    }
    found
}

#[test]
fn sizes_on_several_layers() {
    for (layers, name) in [
        (2, "lte_36213_7.1.7.2.2-1_1to2layer"),
        (3, "lte_36213_7.1.7.2.4-1_1to3layer"),
        (4, "lte_36213_7.1.7.2.5-1_1to4layer"),
    ] {
        let Some(rows) = table(name) else { continue };
        let found = translated(layers);
        for row in &rows {
            let (from, to): (u32, u32) = (some(&row[0]), some(&row[1]));
            let of_row: Vec<_> = found.iter().filter(|(one, ..)| *one == from).collect();
            assert!(!of_row.is_empty(), "{layers} layers: {from} is a size");
            assert!(of_row.iter().all(|(_, bits, _)| *bits == Some(to)), "{layers}: {from}");
        }
        // And nothing is translated that the table has not.
        let has = |bits: u32| rows.iter().any(|row| some::<u32>(&row[0]) == bits);
        assert!(found.iter().all(|(one, bits, _)| bits.is_some() == has(*one)), "{layers} layers");
    }
}

#[test]
fn unverified_sizes_on_two_layers() {
    let Some(rows) = table("lte_36213_7.1.7.2.2-1_rel12_extension_UNVERIFIED") else { return };
    let found = translated(2);
    for row in &rows {
        let (from, to): (u32, u32) = (some(&row[0]), some(&row[1]));
        let of_row: Vec<_> = found.iter().filter(|(one, ..)| *one == from).collect();
        assert!(!of_row.is_empty(), "{from} is a size");
        assert!(of_row.iter().all(|found| (found.1, found.2) == (None, Some(to))), "{from}");
    }
    let whole =
        found.iter().all(|(_, verified, unverified)| verified.is_none() || verified == unverified);
    assert!(whole, "what is verified is the same when asked for with the rest");
}

#[test]
fn modulation_and_coding_schemes() {
    for (mcs_table, name) in [
        (McsTable::Downlink, "lte_36213_7.1.7.1-1_mcs_dl_64qam"),
        (McsTable::Downlink256Qam, "lte_36213_7.1.7.1-1A_mcs_dl_256qam"),
        (McsTable::Uplink, "lte_36213_8.6.1-1_mcs_ul"),
    ] {
        let Some(rows) = table(name) else { continue };
        assert_eq!(rows.len(), 32);
        for row in rows {
            let i_mcs = some(&row[0]);
            let modulation = number(&row[1]).and_then(Modulation::of_order);
            let i_tbs = number(&row[2]).map(index);
            assert_eq!(lte::mcs(mcs_table, i_mcs), modulation.zip(i_tbs), "{name} {i_mcs}");
            let reserved = match (mcs_table, some::<u8>(&row[3])) {
                (_, 0) => None,
                (McsTable::Uplink, rv) => Some(Reserved::RedundancyVersion(rv)),
                _ => modulation.map(Reserved::Modulation),
            };
            assert_eq!(lte::reserved(mcs_table, i_mcs), reserved, "{name} {i_mcs}");
        }
    }
}

#[test]
fn channel_quality_indicators() {
    for (cqi_table, name) in [
        (CqiTable::Qam64, "lte_36213_7.2.3-1_cqi"),
        (CqiTable::Qam256, "lte_36213_7.2.3-2_cqi_256qam"),
    ] {
        let Some(rows) = table(name) else { continue };
        assert_eq!(rows.len(), 16);
        for row in rows {
            let found = lte::cqi(cqi_table, some(&row[0]));
            super::nr::assert_scheme(found, &row[1..4], name);
        }
    }
}

#[test]
fn buffer_sizes() {
    for (bsr, name) in [
        (BsrTable::Normal, "lte_36321_6.1.3.1-1_bsr"),
        (BsrTable::Extended, "lte_36321_6.1.3.1-2_bsr_extended"),
    ] {
        let Some(rows) = table(name) else { continue };
        assert_eq!(rows.len(), 64);
        for row in rows {
            let at: u8 = some(&row[0]);
            assert_eq!(bsr.lower(at), number(&row[1]).map(Bytes::new), "{name} {at}");
            // The open end is empty, or a lower bound.
            let upper = if at == 63 { None } else { number(&row[2]) };
            assert_eq!(bsr.upper(at), upper.map(Bytes::new), "{name} {at}");
        }
    }
}

#[test]
fn carriers_and_resource_block_groups() {
    let Some(rows) = table("lte_36101_nrb") else { return };
    for row in rows {
        let width = (some::<f64>(&row[0]) * 10.0) as u16;
        let prb = lte::carrier_prb(width).expect("a carrier");
        assert_eq!(prb, Prb::new(some(&row[1])));
        assert_eq!(lte::rbg_size(prb), some::<u16>(&row[2]));
    }
}

#[test]
fn uplink_downlink_configurations() {
    let Some(rows) = table("lte_tdd_ul_dl_configs") else { return };
    assert_eq!(rows.len(), 7);
    for row in rows {
        let config = TddConfig::new(some(&row[0])).expect("a configuration");
        let letters: String = (0..10)
            .map(|subframe| match config.subframe(subframe) {
                SubframeKind::Downlink => 'D',
                SubframeKind::Special => 'S',
                SubframeKind::Uplink => 'U',
            })
            .collect();
        assert_eq!(letters, row[2]);
    }
}

/// A list of allowed values beside a cell of the notes.
pub(crate) fn assert_allowed(found: &Allowed, cell: &str, item: &str) {
    let mut wanted = list(cell);
    wanted.sort_unstable();
    wanted.dedup();
    assert_eq!(found.values, wanted, "{item}");
    assert_eq!(found.infinity, cell.contains("inf"), "{item}");
}

#[test]
fn delays_and_timers() {
    let Some(rows) = table("lte_timing_facts") else { return };
    let cell = |item: &str| {
        let row = rows.iter().find(|row| row[0].starts_with(item));
        row.map_or_else(|| panic!("no {item}"), |row| row[1].as_str())
    };
    for (item, delay) in [
        ("FDD DL HARQ processes", timing::HARQ_PROCESSES),
        ("FDD DL: PDSCH n -> PUCCH ACK/NACK", timing::FEEDBACK_DELAY),
        ("FDD DL HARQ RTT timer", timing::HARQ_ROUND_TRIP),
        ("FDD UL: DCI0/PHICH n -> PUSCH", timing::GRANT_DELAY),
        ("FDD UL: PUSCH n -> PHICH", timing::PHICH_DELAY),
        ("FDD UL HARQ RTT", timing::HARQ_ROUND_TRIP),
        ("RLC AM SN length", timing::RLC_AM_SN_BITS),
        ("SCell activation delay", timing::SCELL_ACTIVATION),
    ] {
        assert_eq!(cell(item), delay.to_string(), "{item}");
    }
    assert_eq!(cell("RLC AM window"), timing::RLC_AM_WINDOW.to_string());
    assert_eq!(list(cell("PDCP SN")), [u32::from(timing::PDCP_SN_BITS)]);
    assert_eq!(list(cell("redundancy version order")), timing::REDUNDANCY_VERSIONS.map(u32::from));
    assert!(cell("CQI reference resource").starts_with("n - 4"));
    assert_eq!(timing::CQI_REFERENCE_DELAY, 4);
    assert_eq!(timing::SUBFRAME.as_millis().to_string(), cell("subframe/TTI"));

    for (item, allowed) in [
        ("maxHARQ-Tx UL allowed", &timing::MAX_HARQ_TX),
        ("periodicBSR-Timer allowed", &timing::PERIODIC_BSR),
        ("retxBSR-Timer allowed", &timing::RETX_BSR),
        ("dsr-TransMax", &timing::DSR_TRANS_MAX),
        ("T-Reordering", &timing::T_REORDERING),
        ("T-StatusProhibit", &timing::T_STATUS_PROHIBIT),
        ("T-PollRetransmit", &timing::T_POLL_RETRANSMIT),
        ("pollPDU", &timing::POLL_PDU),
        ("pollByte", &timing::POLL_BYTE),
        ("maxRetxThreshold", &timing::MAX_RETX_THRESHOLD),
        ("PDCP discardTimer", &timing::DISCARD),
        ("drx onDurationTimer", &timing::ON_DURATION),
        ("longDRX-Cycle", &timing::LONG_DRX_CYCLE),
        ("T304", &timing::T304),
        ("SCell deactivation timer", &timing::SCELL_DEACTIVATION),
    ] {
        assert_allowed(allowed, cell(item), item);
    }
    // These two have what some releases or carriers only allow in brackets.
    let periods = cell("sr-Periodicity").replace("(2,1 in Rel-9+)", ",2,1");
    assert_allowed(&timing::SR_PERIOD, &periods, "sr-Periodicity");
    let periods = cell("CQI periodic Npd").replace("(FDD)", "");
    assert_allowed(&timing::CQI_PERIOD_FDD, &periods, "CQI periodic Npd");
}
