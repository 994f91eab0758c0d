//! RRC's changes of the connection, from the messages of LTE and NR.

use sounding_diag::record::{LteRrc, NrRrc, RrcPdu, Segment};
use sounding_rrc::facts::{Event, facts};
use sounding_units::ModemInstant;

use crate::{Change, Connection, Kpi};

pub(super) fn lte(at: ModemInstant, rrc: &LteRrc<'_>, sink: &mut impl FnMut(Kpi)) {
    read(at, rrc.pdu, rrc.segment, rrc.message, sink);
}

pub(super) fn nr(at: ModemInstant, rrc: &NrRrc<'_>, sink: &mut impl FnMut(Kpi)) {
    read(at, rrc.pdu, rrc.segment, rrc.message, sink);
}

/// A segmented message, or one that does not decode, is skipped here: its subscribers receive the
/// reason.
fn read(
    at: ModemInstant,
    pdu: Option<RrcPdu>,
    segment: Option<Segment>,
    message: &[u8],
    sink: &mut impl FnMut(Kpi),
) {
    let Some(pdu) = pdu.filter(|pdu| is_told_by_network(*pdu)) else { return };
    if segment != Some(Segment::Whole) {
        return;
    }
    let Ok(decoded) = sounding_rrc::decode(pdu, message) else { return };
    if let Some(change) = facts(pdu.into(), &decoded.value).event.and_then(change) {
        sink(Kpi::Connection(Connection { at, change }));
    }
}

/// Only these change a connection, and the rest need not be decoded.
const fn is_told_by_network(pdu: RrcPdu) -> bool {
    matches!(pdu, RrcPdu::LteDlCcch | RrcPdu::LteDlDcch | RrcPdu::NrDlCcch | RrcPdu::NrDlDcch)
}

const fn change(event: Event) -> Option<Change> {
    match event {
        Event::Setup | Event::Resume => Some(Change::Begins),
        // A lost connection continues in a cell that the device has chosen.
        Event::Handover | Event::Reestablishment => Some(Change::Handover),
        Event::Release | Event::Suspend | Event::Reject | Event::ReestablishmentReject => {
            Some(Change::Ends)
        }
        _ => None,
    }
}
