//! The parts of a message that matter for a rate or a delay: timers, time-domain allocations,
//! carriers, handovers, measurements, and changes of the connection.
//!
//! Facts are found by the field names of the specifications, anywhere in a message. For example, a
//! buffer status timer counts in a setup, a reconfiguration or a handover, of a master or a
//! secondary group.

mod broadcast;
mod carrier;
mod connection;
mod mac;
mod measurement;
mod number;
mod schedule;

use alloc::vec::Vec;

use serde::Serialize;

pub use broadcast::{MasterInformation, Network, SystemInformation};
pub use carrier::{BandwidthPart, Carrier, Target};
pub use connection::Event;
pub use mac::{Drx, Period, SchedulingRequest};
pub use measurement::{MeasuredCell, Measurement, Rat};
pub use schedule::{LteTdd, NrTdd, SlotPattern, TimeAllocation};

use crate::{Pdu, Value};

/// The facts of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// The message, as the specification names it.
    pub message: &'static str,
    /// The change of the connection.
    pub event: Option<Event>,
    /// The facts that it configures or reports, in the message's order.
    pub facts: Vec<Fact>,
}

/// A fact, and the cells that it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// The cells.
    pub place: Place,
    /// The fact.
    pub known: Known,
}

/// The cells that a part of a message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Whether they are those of NR; of LTE otherwise.
    pub nr: bool,
    /// Whether they are those of the secondary group of a device with two.
    pub secondary: bool,
    /// The secondary cell of the group; `None` for its first cell, and for facts about all its
    /// cells.
    pub scell: Option<u8>,
    /// Whether it is about the uplink; of a carrier, and of what belongs to one.
    pub uplink: bool,
}

/// The kinds of facts in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// Interval of buffer status reports while there is a backlog, in subframes; `None` for never.
    PeriodicBsrTimer(Option<u32>),
    /// Time from a buffer status report without a grant to the next one, in subframes.
    RetxBsrTimer(Option<u32>),
    /// The times at which the device may ask for a grant.
    SchedulingRequest(SchedulingRequest),
    /// The device's sleep cycle; `None` switches it off.
    Drx(Option<Drx>),
    /// The slots and symbols that a downlink grant can select, by their number in the grant. The
    /// slot offset is K0.
    PdschTimeAllocations(Vec<TimeAllocation>),
    /// The same for the uplink, with K2.
    PuschTimeAllocations(Vec<TimeAllocation>),
    /// Slots from a downlink block to its answer, K1, by their number in the assignment (TS 38.213
    /// §9.2.3).
    AnswerOffsets(Vec<u8>),
    /// A table of modulations other than the usual one, as the specification names it.
    McsTable(&'static str),
    /// Subframes of an LTE cell, up and down.
    LteTdd(LteTdd),
    /// Slots of an NR cell, up and down.
    NrTdd(NrTdd),
    /// A carrier of NR.
    Carrier(Carrier),
    /// A bandwidth part.
    BandwidthPart(BandwidthPart),
    /// The first cell of the group changes; in the secondary group of a device without one, it
    /// begins.
    Handover(Target),
    /// A secondary cell begins, or changes.
    ScellAdded(Target),
    /// A secondary cell ends: its index.
    ScellReleased(u8),
    /// The master information block.
    MasterInformation(MasterInformation),
    /// Identity and place of a cell.
    SystemInformation(SystemInformation),
    /// A report of measurements.
    Measurement(Measurement),
}

impl Known {
    /// Whether it may show a person's location: numbers of the radio repeat from place to place, a
    /// cell's global identity does not.
    pub const fn identifies(&self) -> bool {
        match self {
            Self::SystemInformation(_) => true,
            Self::PeriodicBsrTimer(_)
            | Self::RetxBsrTimer(_)
            | Self::SchedulingRequest(_)
            | Self::Drx(_)
            | Self::PdschTimeAllocations(_)
            | Self::PuschTimeAllocations(_)
            | Self::AnswerOffsets(_)
            | Self::McsTable(_)
            | Self::LteTdd(_)
            | Self::NrTdd(_)
            | Self::Carrier(_)
            | Self::BandwidthPart(_)
            | Self::Handover(_)
            | Self::ScellAdded(_)
            | Self::ScellReleased(_)
            | Self::MasterInformation(_)
            | Self::Measurement(_) => false,
        }
    }
}

/// The facts of a decoded message.
pub fn facts(pdu: Pdu, value: &Value<'_>) -> Facts {
    let message = connection::message(pdu, value);
    let mut found = Finder { facts: Vec::new() };
    let place = Place { nr: pdu.is_nr(), ..Place::default() };
    if let Some(known) = broadcast::master_information(pdu, value) {
        found.add(place, known);
    }
    found.walk(value, place);
    Facts { message, event: connection::event(message, value), facts: found.facts }
}

struct Finder {
    facts: Vec<Fact>,
}

impl Finder {
    fn add(&mut self, place: Place, known: Known) {
        self.facts.push(Fact { place, known });
    }

    /// Visits every member within `value`, which is about `place`.
    fn walk(&mut self, value: &Value<'_>, place: Place) {
        match value {
            Value::Sequence(members) => {
                members.iter().for_each(|(name, value)| self.member(name, value, place));
            }
            Value::Choice(name, value) => self.member(name, value, place),
            Value::Contains(value) => self.walk(value, place),
            Value::List(items) => items.iter().for_each(|item| self.walk(item, place)),
            _ => {}
        }
    }

    fn member(&mut self, name: &str, value: &Value<'_>, place: Place) {
        if let Some(known) = known(name, value, place) {
            self.add(place, known);
        }
        match name {
            "sCellToAddModList"
            | "sCellToAddModList-r10"
            | "sCellToAddModListExt-r13"
            | "sCellToAddModListSCG-r12"
            | "sCellToAddModListSCG-Ext-r13" => {
                for item in value.items() {
                    self.scell(item, place);
                }
            }
            "sCellToReleaseList"
            | "sCellToReleaseList-r10"
            | "sCellToReleaseListExt-r13"
            | "sCellToReleaseListSCG-r12"
            | "sCellToReleaseListSCG-Ext-r13" => {
                for index in value.items().iter().filter_map(Value::integer) {
                    self.add(place, Known::ScellReleased(index as u8));
                }
            }
            "scs-SpecificCarrierList" => {
                for carrier in value.items().iter().filter_map(Carrier::of) {
                    self.add(place, Known::Carrier(carrier));
                }
            }
            "schedulingRequestResourceToAddModList" => {
                for request in value.items().iter().filter_map(SchedulingRequest::of_nr) {
                    self.add(place, Known::SchedulingRequest(request));
                }
            }
            // Capabilities tell what the device can do, not what is configured.
            "ueCapabilityInformation" | "ueCapabilityEnquiry" => {}
            _ => self.walk(value, within(name, place)),
        }
    }

    fn scell(&mut self, item: &Value<'_>, place: Place) {
        let index = ["sCellIndex", "sCellIndex-r10", "sCellIndex-r13"];
        let index = index.iter().find_map(|name| item.get(name)?.integer());
        let place = Place { scell: index.map(|index| index as u8), ..place };
        if let Some(target) = Target::of_scell(item) {
            self.add(place, Known::ScellAdded(target));
        }
        self.walk(item, place);
    }
}

/// The cells that a member is about, if its parent is about `place`.
fn within(name: &str, place: Place) -> Place {
    match name {
        "nr-SecondaryCellGroupConfig-r15" | "nr-SCG" | "secondaryCellGroup" => {
            Place { nr: true, secondary: true, ..place }
        }
        "scg-Configuration-r12" => Place { secondary: true, ..place },
        "ul-DCCH-MessageNR-r15" | "ul-DCCH-MessageNR-r16" => Place { nr: true, ..place },
        "ul-DCCH-MessageEUTRA" | "ul-DCCH-MessageEUTRA-r16" | "dl-DCCH-MessageEUTRA-r16" => {
            Place { nr: false, ..place }
        }
        "eutra-SCG" => Place { nr: false, secondary: true, ..place },
        "masterCellGroup" => Place { secondary: false, ..place },
        "uplinkConfigCommon"
        | "uplinkConfig"
        | "frequencyInfoUL"
        | "initialUplinkBWP"
        | "uplinkBWP-ToAddModList"
        | "supplementaryUplink"
        | "supplementaryUplinkConfig" => Place { uplink: true, ..place },
        "downlinkConfigCommon"
        | "frequencyInfoDL"
        | "initialDownlinkBWP"
        | "downlinkBWP-ToAddModList" => Place { uplink: false, ..place },
        _ => place,
    }
}

/// The fact that a member holds by itself.
fn known(name: &str, value: &Value<'_>, place: Place) -> Option<Known> {
    match name {
        "periodicBSR-Timer" | "periodicBSR-Timer-r13" | "periodicBSR-Timer-r15" => {
            Some(Known::PeriodicBsrTimer(number::of_name(value.name()?)))
        }
        "retxBSR-Timer" | "retxBSR-Timer-r13" => {
            Some(Known::RetxBsrTimer(number::of_name(value.name()?)))
        }
        "sr-ConfigIndex" => SchedulingRequest::of_lte(value).map(Known::SchedulingRequest),
        "drx-Config" => mac::drx(value).map(Known::Drx),
        "pdsch-TimeDomainAllocationList" => {
            schedule::time_allocations(value, "k0").map(Known::PdschTimeAllocations)
        }
        "pusch-TimeDomainAllocationList" => {
            schedule::time_allocations(value, "k2").map(Known::PuschTimeAllocations)
        }
        "dl-DataToUL-ACK" => schedule::answer_offsets(value).map(Known::AnswerOffsets),
        "mcs-Table" => value.name().map(Known::McsTable),
        "tdd-Config" if !place.nr => LteTdd::of(value).map(Known::LteTdd),
        "tdd-UL-DL-ConfigurationCommon" => NrTdd::of(value).map(Known::NrTdd),
        "genericParameters" => BandwidthPart::of(value).map(Known::BandwidthPart),
        "mobilityControlInfo" => Target::of_lte(value).map(Known::Handover),
        "reconfigurationWithSync" => Target::of_nr(value).map(Known::Handover),
        "systemInformationBlockType1" => {
            broadcast::system_information(value).map(Known::SystemInformation)
        }
        "measResults" => Measurement::of(value, place.nr).map(Known::Measurement),
        _ => None,
    }
}
