//! NR records that are written and read back keep their values.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sounding_diag::mac::nr::{Controls, Element, LongBsr};
use sounding_diag::radio::{Decibels, Modulation, Slot};
use sounding_diag::record::{
    NrBsr, NrCell, NrLayerRepr, NrPdschBlock, NrPdschStatus, NrPusch, NrSearcher, NrUplink,
    NrUplinkBlock, NrUplinkBsr, NrUplinkSchedule,
};
use sounding_units::{Bytes, Prb};

/// A slot that all records have room for.
fn slot() -> impl Strategy<Value = Slot> {
    (0u16..1024, 0u8..32, 2u8..5).prop_filter_map("a slot", |(frame, slot, numerology)| {
        Slot::new(frame, slot, Some(numerology))
    })
}

fn modulation() -> impl Strategy<Value = Modulation> {
    (0u64..4).prop_filter_map("a modulation", Modulation::from_order)
}

fn bytes(most: u64) -> impl Strategy<Value = Bytes> {
    (0..=most).prop_map(Bytes::new)
}

prop_compose! {
    fn block()(
        slot in slot(), pci in 0u16..1008, arfcn in 0u32..3_279_166, size in bytes(131_071),
        mcs in 0u8..32, rbs in 0u16..276, layers in 1u8..5, rv in 0u8..4, harq in 0u8..16,
        (rnti, k1, ndi, new, retx) in (0u8..16, 0u8..16, any::<bool>(), any::<bool>(), 0u8..8),
        modulation in modulation(), received in any::<bool>(),
    ) -> NrPdschBlock {
        NrPdschBlock {
            slot: Some(slot), pci, arfcn: Some(arfcn), size, mcs, rbs: Prb::new(rbs), layers,
            rv: Some(rv), harq, rnti: Some(rnti), k1: Some(k1), ndi: Some(ndi), new: Some(new),
            retx: Some(retx), modulation: Some(modulation), received,
        }
    }
}

prop_compose! {
    fn transmission()(
        slot in slot(), size in bytes(65_535), mcs in 0u8..32, start_rb in 0u16..276,
        rbs in 0u16..256, rv in 0u8..4, harq in 0u8..8, k2 in 0u8..16, modulation in modulation(),
        transform_precoding in any::<bool>(),
    ) -> NrPusch {
        NrPusch {
            slot: Some(slot), carrier: None, size, mcs, start_rb, rbs: Prb::new(rbs), rv, harq, k2,
            modulation: Some(modulation), transform_precoding, new: None,
        }
    }
}

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        (0u8..8, 0u8..32).prop_map(|(group, index)| Element::ShortBsr { group, index }),
        proptest::array::uniform8(option::of(any::<u8>()))
            .prop_map(|indexes| Element::LongBsr(LongBsr::new(indexes))),
        (0u8..64, 0u8..64).prop_map(|(headroom, most)| Element::PowerHeadroom { headroom, most }),
    ]
}

fn level() -> impl Strategy<Value = Option<Decibels>> {
    option::of((-25_000i32..-1).prop_map(Decibels::of_128ths))
}

proptest! {
    #[test]
    fn downlink_blocks(blocks in vec(block(), 0..40)) {
        let mut body = Vec::new();
        NrPdschStatus::emit(&blocks, &mut body).unwrap();
        let status = NrPdschStatus::parse(&body).unwrap();
        prop_assert_eq!(status.blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn uplink_transmissions(transmissions in vec(transmission(), 0..40)) {
        let mut body = Vec::new();
        NrUplinkSchedule::emit(&transmissions, &mut body).unwrap();
        let schedule = NrUplinkSchedule::parse(&body).unwrap();
        prop_assert_eq!(schedule.transmissions().collect::<Vec<_>>(), transmissions);
    }

    #[test]
    fn uplink_blocks(
        heads in vec((slot(), 0u8..16, any::<u32>(), any::<u32>(), vec(element(), 0..4)), 0..=15),
    ) {
        let controls: Vec<Vec<u8>> = heads
            .iter()
            .map(|(.., elements)| {
                let mut bytes = Vec::new();
                elements.iter().for_each(|element| element.emit(&mut bytes));
                bytes
            })
            .collect();
        let written: Vec<NrUplinkBlock<'_>> = heads
            .iter()
            .zip(&controls)
            .map(|(&(slot, harq, grant, built, _), controls)| NrUplinkBlock {
                slot: Some(slot),
                carrier: None,
                harq,
                grant: Bytes::new(grant.into()),
                built: Bytes::new(built.into()),
                bsr_reason: None,
                controls: Controls::new(controls),
            })
            .collect();
        let mut body = Vec::new();
        NrUplink::emit(&written, &mut body).unwrap();
        let uplink = NrUplink::parse(&body).unwrap();
        prop_assert_eq!(uplink.blocks().collect::<Vec<_>>(), written);
    }

    #[test]
    fn buffer_status_reports(
        heads in vec((0u16..1024, 0u8..160, 0u8..16, 0u8..16, 0u8..32, 0u8..8, any::<u8>(), element()), 0..=15),
    ) {
        let written: Vec<NrBsr> = heads
            .into_iter()
            .map(|(frame, slot, carrier, harq, reason, kind, groups, element)| NrBsr {
                slot: Slot::new(frame, slot, None),
                carrier,
                harq,
                reason,
                kind,
                groups,
                element: Some(element),
            })
            .collect();
        let mut body = Vec::new();
        // Power headroom is no report, and is written and read as any element.
        NrUplinkBsr::emit(&written, &mut body).unwrap();
        let reports = NrUplinkBsr::parse(&body).unwrap();
        prop_assert_eq!(reports.reports().collect::<Vec<_>>(), written);
    }

    #[test]
    fn measured_cells(
        layers in vec((0u32..3_279_166, 0u8..8, vec((0u16..1008, level(), level()), 0..6), any::<bool>()), 0..5),
    ) {
        let cells: Vec<Vec<NrCell>> = layers
            .iter()
            .map(|(arfcn, carrier, cells, serves)| {
                let serving = cells.first().map(|(pci, ..)| *pci).filter(|_| *serves);
                cells
                    .iter()
                    .map(|&(pci, rsrp, rsrq)| NrCell {
                        arfcn: *arfcn,
                        carrier: Some(*carrier),
                        pci,
                        serving: Some(pci) == serving,
                        rsrp,
                        rsrq,
                    })
                    .collect()
            })
            .collect();
        let written: Vec<NrLayerRepr<'_>> = layers
            .iter()
            .zip(&cells)
            .map(|((arfcn, carrier, _, _), cells)| NrLayerRepr {
                arfcn: *arfcn,
                carrier: *carrier,
                serving_pci: cells.iter().find(|cell| cell.serving).map(|cell| cell.pci),
                cells,
            })
            .collect();
        let mut body = Vec::new();
        NrSearcher::emit(&written, &mut body).unwrap();
        let searcher = NrSearcher::parse(&body).unwrap();
        prop_assert_eq!(searcher.cells().collect::<Vec<_>>(), cells.concat());
    }
}

#[test]
fn values_outside_a_record_are_refused_and_leave_nothing_behind() {
    let slot = Slot::new(5, 3, Some(1));
    let whole = NrPusch {
        slot,
        carrier: None,
        size: Bytes::new(1000),
        mcs: 10,
        start_rb: 0,
        rbs: Prb::new(20),
        rv: 0,
        harq: 1,
        k2: 2,
        modulation: Some(Modulation::Qam64),
        transform_precoding: false,
        new: None,
    };
    for wrong in [
        NrPusch { slot: None, ..whole },
        NrPusch { carrier: Some(1), ..whole },
        NrPusch { harq: 8, ..whole },
        NrPusch { size: Bytes::new(65_536), ..whole },
    ] {
        let mut out = vec![7];
        assert!(NrUplinkSchedule::emit(&[whole, wrong], &mut out).is_err(), "{wrong:?}");
        assert_eq!(out, [7]);
    }
}
