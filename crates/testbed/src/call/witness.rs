//! A network that keeps what it did to one direction of the first device, for judges.

use std::sync::{Arc, Mutex, PoisonError};

use sounding_cell::{Event, Passage};
use sounding_emu::Slot;
use sounding_experiment::plan::Built;
use sounding_kpi::Direction;
use sounding_sim::{Diag, Network, Output, Port};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

/// Passages that are kept: an hour at 1 000 packets a second.
const KEPT: usize = 3_600_000;

/// What the radio did to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// It entered the queue of the device or of its cell.
    pub entered: HostInstant,
    /// Its last byte was sent for the first time.
    pub sent: HostInstant,
    /// It was handed on.
    pub delivered: HostInstant,
}

/// The account of a [`Witness`].
#[derive(Clone, Debug, Default)]
pub(super) struct Account(Arc<Mutex<Vec<Passage>>>);

impl Account {
    /// What became of the packets, in order of their entry, by the clock that read `started` at the
    /// network's time zero.
    pub(super) fn take(&self, started: HostInstant) -> Vec<Waited> {
        let kept = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let at = |at: HostInstant| started + (at - HostInstant::default());
        let waited = kept.into_iter().map(|passage| Waited {
            entered: at(passage.entered),
            sent: at(passage.sent),
            delivered: at(passage.delivered),
        });
        let mut waited: Vec<Waited> = waited.collect();
        waited.sort_by_key(|waited| waited.entered);
        waited
    }
}

#[derive(Debug)]
pub(super) struct Witness {
    network: Built<Slot>,
    direction: Direction,
    account: Account,
    events: Vec<Event>,
}

impl Witness {
    pub(super) fn new(network: Built<Slot>, direction: Direction) -> (Self, Account) {
        let account = Account::default();
        (Self { network, direction, account: account.clone(), events: Vec::new() }, account)
    }
}

impl Network<Slot> for Witness {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Slot) {
        self.network.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.network.handle_time(now);
        self.network.drain_events(&mut self.events);
        if self.events.is_empty() {
            return;
        }
        let mut kept = self.account.0.lock().unwrap_or_else(PoisonError::into_inner);
        for event in self.events.drain(..) {
            if let Event::Passage { device, direction, passage } = event
                && direction == self.direction
                && device.0 == 0
                && kept.len() < KEPT
            {
                kept.push(passage);
            }
        }
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Slot>)> {
        self.network.poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.network.wakeup()
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        self.network.no_output_before(at)
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.network.poll_diag()
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }
}
