//! Records that are written and read back keep their values.

use proptest::collection::vec;
use proptest::prelude::*;
use sounding_diag::mac::{self, Element, MacPdu};
use sounding_diag::radio::{Decibels, Modulation, Rnti, Tti};
use sounding_diag::record::{
    BsrEvent, BsrTrigger, BufferSampleRepr, ChannelBacklog, DownlinkBlock, MacDownlink, MacUplink,
    PdschBlock, PdschStat, PdschSubframeRepr, PuschTx, PuschTxReport, UplinkBlock, UplinkBuffer,
};
use sounding_units::{Bytes, Prb};

fn tti() -> impl Strategy<Value = Tti> {
    (0u64..10_240).prop_filter_map("a subframe", Tti::from_count)
}

fn modulation(most: u64) -> impl Strategy<Value = Modulation> {
    (0..=most).prop_filter_map("a modulation", Modulation::from_order)
}

fn bytes(most: u64) -> impl Strategy<Value = Bytes> {
    (0..=most).prop_map(Bytes::new)
}

fn prb(most: u16) -> impl Strategy<Value = Prb> {
    (0..=most).prop_map(Prb::new)
}

fn rnti() -> impl Strategy<Value = Rnti> {
    (0u64..16).prop_map(Rnti::from_number)
}

prop_compose! {
    fn transmission()(
        tti in tti(), carrier in 0u8..4, retx in 0u8..32, rv in 0u8..4, start_rb in 0u8..128,
        rbs in prb(127), size in bytes(65_535), code_rate_1024 in any::<u16>(), modulation in modulation(2), power in -64i16..64,
        dropped in any::<bool>(),
    ) -> PuschTx {
        PuschTx {
            tti: Some(tti), carrier, retx, rv, start_rb, rbs, size, code_rate_1024,
            modulation: Some(modulation), power: Decibels::whole(power), dropped: Some(dropped),
        }
    }
}

prop_compose! {
    fn block()(
        harq in 0u8..16, rv in 0u8..4, ndi in any::<bool>(), received in any::<bool>(),
        rnti in rnti(), index in 0u8..2, size in bytes(65_535), mcs in any::<u8>(), rbs in prb(255),
        modulation in modulation(3),
    ) -> PdschBlock {
        PdschBlock {
            harq, rv, ndi, received, rnti, index, size, mcs, rbs, modulation: Some(modulation),
        }
    }
}

prop_compose! {
    fn backlog()(
        channel in any::<u8>(), priority in any::<u8>(), new in bytes(u64::from(u32::MAX)),
        retx in bytes(u64::from(u32::MAX)), control in bytes(65_535),
    ) -> ChannelBacklog {
        ChannelBacklog { channel, priority, new, retx, control }
    }
}

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        (0u8..4, 0u8..64, any::<bool>()).prop_map(|(group, index, truncated)| Element::ShortBsr {
            group,
            index,
            truncated
        }),
        [0u8..64, 0u8..64, 0u8..64, 0u8..64].prop_map(Element::LongBsr),
        (0u8..64).prop_map(Element::PowerHeadroom),
        any::<u16>().prop_map(Element::CellRnti),
    ]
}

/// A head without its PDU, which borrows.
type UplinkHead = (Tti, u8, u8, Bytes, Bytes, u8);

fn uplink_head() -> impl Strategy<Value = UplinkHead> {
    (tti(), 0u8..5, 0u8..16, bytes(65_535), bytes(65_535), any::<u8>())
}

const EVENTS: [BsrEvent; 5] = [
    BsrEvent::None,
    BsrEvent::Periodic,
    BsrEvent::HighData,
    BsrEvent::Robustness,
    BsrEvent::Other(9),
];
const TRIGGERS: [BsrTrigger; 8] = [
    BsrTrigger::None,
    BsrTrigger::Cancelled,
    BsrTrigger::Long,
    BsrTrigger::Short,
    BsrTrigger::PaddingLong,
    BsrTrigger::PaddingShort,
    BsrTrigger::PaddingTruncated,
    BsrTrigger::Other(77),
];

proptest! {
    #[test]
    fn pusch_transmissions(
        pci in 0u16..504, dispatched in tti(), transmissions in vec(transmission(), 0..32),
    ) {
        let mut body = Vec::new();
        PuschTxReport::emit(pci, dispatched, &transmissions, &mut body).unwrap();
        let report = PuschTxReport::parse(&body).unwrap();
        prop_assert_eq!((report.pci(), report.dispatched()), (pci, Some(dispatched)));
        prop_assert_eq!(report.transmissions().collect::<Vec<_>>(), transmissions);
    }

    #[test]
    fn pdsch_statistics(
        subframes in vec((tti(), prb(255), 0u8..5, 0u8..8, vec(block(), 0..=2)), 0..40),
    ) {
        let written: Vec<_> = subframes
            .iter()
            .map(|(tti, rbs, layers, cell, blocks)| {
                PdschSubframeRepr { tti: *tti, rbs: *rbs, layers: *layers, cell: *cell, blocks }
            })
            .collect();
        let mut body = Vec::new();
        PdschStat::emit(&written, &mut body).unwrap();
        let stat = PdschStat::parse(&body).unwrap();
        let read: Vec<_> = stat
            .subframes()
            .map(|found| {
                let tti = found.tti.unwrap();
                (tti, found.rbs, found.layers, found.cell, found.blocks().collect::<Vec<_>>())
            })
            .collect();
        prop_assert_eq!(read, subframes);
    }

    #[test]
    fn uplink_blocks(
        heads in vec((uplink_head(), vec(element(), 0..4), 0usize..5, 0usize..8), 0..30),
    ) {
        let pdus: Vec<Vec<u8>> = heads
            .iter()
            .map(|(_, elements, ..)| {
                let mut pdu = Vec::new();
                mac::emit(true, elements, &[(3, 1400), (3, 20)], false, &mut pdu).unwrap();
                pdu
            })
            .collect();
        let written: Vec<_> = heads
            .iter()
            .zip(&pdus)
            .map(|(&((tti, cell, harq, grant, padding, rlc_pdus), _, event, trigger), pdu)| {
                UplinkBlock {
                    tti: Some(tti), cell, harq, rnti: Rnti::Cell, grant, padding, rlc_pdus,
                    event: EVENTS[event], trigger: TRIGGERS[trigger],
                    pdu: MacPdu::new(pdu, Rnti::Cell, true),
                }
            })
            .collect();
        let mut body = Vec::new();
        MacUplink::emit(&written, &mut body).unwrap();
        let uplink = MacUplink::parse(&body).unwrap();
        prop_assert_eq!(uplink.blocks().collect::<Vec<_>>(), written);
        for (block, (_, elements, ..)) in uplink.blocks().zip(&heads) {
            let found: Vec<_> = block.pdu.elements().map(|(_, element)| element).collect();
            prop_assert_eq!(&found, elements);
        }
    }

    #[test]
    fn downlink_blocks(
        heads in vec((uplink_head(), rnti(), vec(any::<u8>(), 0..20)), 0..30),
    ) {
        let written: Vec<_> = heads
            .iter()
            .map(|((tti, cell, harq, size, padding, rlc_pdus), rnti, pdu)| DownlinkBlock {
                tti: Some(*tti), cell: *cell, harq: *harq, rnti: *rnti, size: *size,
                padding: *padding, rlc_pdus: Some(*rlc_pdus), pdu: MacPdu::new(pdu, *rnti, false),
            })
            .collect();
        let mut body = Vec::new();
        MacDownlink::emit(&written, &mut body).unwrap();
        let downlink = MacDownlink::parse(&body).unwrap();
        prop_assert_eq!(downlink.blocks().collect::<Vec<_>>(), written);
    }

    #[test]
    fn uplink_buffers(
        samples in vec((proptest::option::of(tti()), vec(backlog(), 0..11)), 0..41),
    ) {
        let written: Vec<_> =
            samples.iter().map(|(tti, channels)| BufferSampleRepr { tti: *tti, channels }).collect();
        let mut body = Vec::new();
        UplinkBuffer::emit(&written, &mut body).unwrap();
        let buffer = UplinkBuffer::parse(&body).unwrap();
        let read: Vec<_> = buffer
            .samples()
            .map(|sample| (sample.tti, sample.channels().collect::<Vec<_>>()))
            .collect();
        prop_assert_eq!(read, samples);
    }
}
