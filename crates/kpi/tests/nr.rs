//! KPIs of NR records, which are written as a modem would write them.

use std::time::Duration;

use sounding_diag::mac::nr::{Controls, Element, LongBsr};
use sounding_diag::radio::{Decibels, Modulation, Slot};
use sounding_diag::record::{
    Form, NrBsr, NrCell, NrDownlinkData, NrLayerRepr, NrPdschBlock, NrPdschStatus, NrPusch,
    NrSearcher, NrUplink, NrUplinkBlock, NrUplinkBsr, NrUplinkSchedule, compose,
};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::{Allocation, Backlog, Coding, Direction, Grant, Kpi, Layer, Signal};
use sounding_units::{Bytes, ModemInstant, Prb};

/// When every record here was complete.
fn stamped() -> ModemInstant {
    ModemInstant::from_diag(55_000_000_000 << 16)
}

fn extract(code: LogCode, body: &[u8]) -> Vec<Kpi> {
    let log = LogRecord { code, at: stamped(), stamp: 0, radio: None, body };
    let mut found = Vec::new();
    let is_kpi = sounding_kpi::extract(&log, |kpi| found.push(kpi)).expect("it is described");
    assert!(is_kpi, "{code}");
    found
}

fn before(span: Duration) -> ModemInstant {
    stamped().saturating_before(span)
}

fn block(slot: Option<Slot>) -> NrPdschBlock {
    NrPdschBlock {
        slot,
        pci: 186,
        arfcn: Some(644_736),
        size: Bytes::new(1281),
        mcs: 18,
        rbs: Prb::new(4),
        layers: 4,
        rv: Some(0),
        harq: 5,
        rnti: Some(0),
        k1: Some(3),
        ndi: Some(false),
        new: Some(true),
        retx: Some(0),
        modulation: Some(Modulation::Qam64),
        received: true,
    }
}

fn granted(kpis: &[Kpi]) -> Vec<Grant> {
    kpis.iter()
        .filter_map(|kpi| if let Kpi::Grant(grant) = kpi { Some(*grant) } else { None })
        .collect()
}

#[test]
fn downlink_blocks_are_dated_by_their_slots() {
    let slot = |frame, slot| Slot::new(frame, slot, Some(1));
    let mut body = Vec::new();
    let blocks = [
        block(slot(1023, 19)),
        NrPdschBlock { received: false, ..block(slot(0, 2)) },
        NrPdschBlock { new: Some(false), retx: Some(1), ..block(slot(0, 6)) },
        // Paging and system information are for all devices.
        NrPdschBlock { rnti: Some(2), ..block(slot(0, 6)) },
    ];
    NrPdschStatus::emit(&blocks, &mut body).unwrap();
    let first = Grant {
        at: before(Duration::from_micros(3500)),
        direction: Direction::Downlink,
        carrier: 0,
        harq: Some(5),
        ndi: Some(false),
        layer: Layer::Phy,
        code: NrPdschStatus::CODE,
        size: Bytes::new(1281),
        padding: None,
        retransmission: false,
        decoded: Some(true),
        allocation: Some(Allocation { prb: Prb::new(4), coding: Coding::Nr(18), layers: Some(4) }),
        report: None,
    };
    let wanted = [
        first,
        Grant { at: before(Duration::from_millis(2)), decoded: Some(false), ..first },
        Grant { at: stamped(), retransmission: true, ..first },
    ];
    assert_eq!(granted(&extract(NrPdschStatus::CODE, &body)), wanted);
    assert_eq!(first.allocation.and_then(|allocation| allocation.size()), None);
}

#[test]
fn uplink_transmissions_have_blocks_and_repeats() {
    let whole = NrPusch {
        slot: Slot::new(10, 4, Some(1)),
        carrier: None,
        size: Bytes::new(4000),
        mcs: 20,
        start_rb: 0,
        rbs: Prb::new(100),
        rv: 0,
        harq: 3,
        k2: 4,
        modulation: Some(Modulation::Qam64),
        transform_precoding: true,
        new: None,
    };
    let mut body = Vec::new();
    let repeat = NrPusch { slot: Slot::new(10, 9, Some(1)), rv: 2, ..whole };
    NrUplinkSchedule::emit(&[whole, repeat], &mut body).unwrap();
    let found = granted(&extract(NrUplinkSchedule::CODE, &body));
    let said: Vec<_> = found.iter().map(|grant| (grant.at, grant.retransmission)).collect();
    assert_eq!(said, [(before(Duration::from_micros(2500)), false), (stamped(), true)]);
    let allocation = Allocation { prb: Prb::new(100), coding: Coding::Nr(20), layers: Some(1) };
    assert!(found.iter().all(|grant| grant.allocation == Some(allocation)));
    assert!(
        found.iter().all(|grant| (grant.direction, grant.harq) == (Direction::Uplink, Some(3)))
    );
}

#[test]
fn uplink_blocks_have_the_grant_and_the_backlog() {
    let mut controls = Vec::new();
    let report = LongBsr::new([Some(100), None, None, Some(2), None, None, None, None]);
    Element::LongBsr(report).emit(&mut controls);
    Element::PowerHeadroom { headroom: 30, most: 50 }.emit(&mut controls);
    let block = NrUplinkBlock {
        slot: Slot::new(7, 7, Some(1)),
        carrier: None,
        harq: 9,
        grant: Bytes::new(500),
        built: Bytes::new(420),
        bsr_reason: None,
        controls: Controls::new(&controls),
    };
    let mut body = Vec::new();
    NrUplink::emit(&[block], &mut body).unwrap();
    let found = extract(NrUplink::CODE, &body);
    // TS 38.321 Table 6.1.3.1-2: index 100 is up to 5387 bytes, index 2 up to 11.
    let waiting = Bytes::new(5387 + 11);
    assert_eq!(found[0], Kpi::Backlog(Backlog { at: stamped(), waiting }));
    let [grant] = granted(&found)[..] else { panic!("{found:?}") };
    assert_eq!((grant.size, grant.padding), (Bytes::new(500), Some(Bytes::new(80))));
    assert_eq!((grant.layer, grant.harq), (Layer::Mac, Some(9)));
}

#[test]
fn a_short_report_counts_in_its_own_table_and_an_open_end_with_its_lower_one() {
    let report = |index| NrBsr {
        slot: Slot::new(7, 7, None),
        carrier: 0,
        harq: 0,
        reason: 1,
        kind: 1,
        groups: 1,
        element: Some(Element::ShortBsr { group: 0, index }),
    };
    let mut body = Vec::new();
    NrUplinkBsr::emit(&[report(8), report(31)], &mut body).unwrap();
    let backlog = |bytes| Kpi::Backlog(Backlog { at: stamped(), waiting: Bytes::new(bytes) });
    assert_eq!(extract(NrUplinkBsr::CODE, &body), [backlog(102), backlog(150_000)]);
}

#[test]
fn only_measured_serving_cells_are_signals() {
    let cell = |pci, serving, rsrp: Option<i16>| NrCell {
        arfcn: 644_736,
        carrier: Some(0),
        pci,
        serving,
        rsrp: rsrp.map(Decibels::whole),
        rsrq: rsrp.map(|_| Decibels::whole(-11)),
    };
    let cells = [cell(186, true, Some(-95)), cell(187, false, Some(-99))];
    let unmeasured = [cell(300, true, None)];
    let layer = |serving, cells| NrLayerRepr {
        arfcn: 644_736,
        carrier: 0,
        serving_pci: Some(serving),
        cells,
    };
    let mut body = Vec::new();
    NrSearcher::emit(&[layer(186, &cells), layer(300, &unmeasured)], &mut body).unwrap();
    let wanted = Signal {
        at: stamped(),
        cell: 186,
        serves_as: Some(0),
        nr: true,
        rsrp_dbm: -95.0,
        rsrq_db: -11.0,
        sinr_db: None,
    };
    assert_eq!(extract(NrSearcher::CODE, &body), [Kpi::Signal(wanted)]);
}

/// A block of `size` bytes with a subheader for each length. `in_block` is the number of subheaders
/// that the block has.
fn data(slot: u16, size: u32, lengths: &[u16], in_block: u16) -> Form {
    let subheader = |&len: &u16| {
        let form = Form::new().number("len_bytes", len);
        let form = form.number("rlc_flags", 32).number("rlc_sn", 1).number("pdcp_sn", 1);
        let kind = if len > 255 { "long" } else { "short" };
        let head = Form::new().number("channel", 4).number("long", len > 255);
        head.list(kind, vec![form])
    };
    let form = Form::new().number("frame", 9).number("slot", slot).number("tb_bytes", size);
    form.number("subheaders_in_block", in_block)
        .list("subheaders", lengths.iter().map(subheader).collect())
}

#[test]
fn what_the_subheaders_of_a_downlink_block_do_not_name_is_padding() {
    let blocks = vec![
        data(3, 1_700, &[1_500, 100], 2),
        data(17, 1_503, &[1_500], 1),
        // The record has one subheader of two.
        data(19, 3_000, &[1_500], 2),
    ];
    let mut body = Vec::new();
    compose(NrDownlinkData::CODE, 6, &Form::new().list("blocks", blocks), &mut body).unwrap();
    let found = granted(&extract(NrDownlinkData::CODE, &body));
    let said: Vec<_> = found.iter().map(|grant| (grant.size, grant.padding)).collect();
    let bytes = Bytes::new;
    assert_eq!(
        said,
        [
            (bytes(1_700), Some(bytes(1_700 - 1_503 - 102))),
            (bytes(1_503), Some(bytes(0))),
            (bytes(3_000), None)
        ]
    );
    // A frame has twenty slots, as one of them is the nineteenth.
    let at: Vec<_> = found.iter().map(|grant| stamped() - grant.at).collect();
    assert_eq!(at, [8_000, 1_000, 0].map(Duration::from_micros));
    assert!(found.iter().all(|grant| grant.layer == Layer::Mac && grant.decoded == Some(true)));
}
