//! The thread of one modem: it reads the modem, makes the estimates, and feeds what reads them. It
//! shares nothing with other modems' threads that one of them could hold up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use miette::{IntoDiagnostic, Result, miette};
use sounding_host::monotonic_now;
use sounding_units::HostInstant;

use super::devices::Radio;
use super::events::{Account, Events, LastWords};
use super::modem::Modem;
use super::output::{Needs, Section};
use super::outputs::{Outputs, Part};

/// A heartbeat at least this often: the kernel side takes 60 ms of silence for a dead daemon.
const TICK: Duration = Duration::from_millis(5);

/// A heartbeat this long after the one before is reported: a fallback for silence may follow, and
/// this is its reason.
const LATE: Duration = Duration::from_millis(40);

/// What the main thread has a modem's thread do.
pub(super) enum Order {
    /// Its network devices, and whether they moved.
    Follow(Radio, bool),
    /// A part of a congestion control to feed.
    Feed(Part),
    /// The congestion control of this number ends.
    Leave(u64),
    /// Outputs that end, by the values of their sections, others that start, and what all need.
    Change { ended: Vec<String>, added: Vec<Arc<dyn Section>>, needs: Vec<Needs> },
}

/// A modem that is read.
pub(super) struct Reader {
    pub(super) place: usize,
    orders: Option<Sender<Order>>,
    beaten: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<Ended>>>,
}

/// What a modem's thread leaves.
pub(super) struct Ended {
    pub(super) account: Account,
    pub(super) last: LastWords,
}

/// The thread's side.
struct Turns {
    orders: Receiver<Order>,
    is_over: bool,
    modem: Modem,
    outputs: Outputs,
    events: Events,
    /// When the last heartbeat was.
    beaten: Option<HostInstant>,
    said: Arc<AtomicU64>,
    place: usize,
}

impl Reader {
    /// Starts the thread. It has the calling thread's rights and priority.
    pub(super) fn start(
        place: usize,
        modem: Modem,
        outputs: Outputs,
        events: Events,
    ) -> Result<Self> {
        let (sender, orders) = mpsc::channel();
        let beaten = Arc::new(AtomicU64::new(monotonic_now().as_nanos()));
        let said = Arc::clone(&beaten);
        let (is_over, before) = (false, None);
        let turns = Turns { orders, is_over, modem, outputs, events, beaten: before, said, place };
        let thread = thread::Builder::new().name("modem".into()).spawn(|| turns.run());
        let thread = Some(thread.into_diagnostic()?);
        Ok(Self { place, orders: Some(sender), beaten, thread })
    }

    /// Has it do something at its next turn.
    pub(super) fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// When it last turned.
    pub(super) fn beaten(&self) -> HostInstant {
        HostInstant::from_nanos(self.beaten.load(Ordering::Relaxed))
    }

    /// Has it give the modem its log mask back and restore what its outputs changed.
    pub(super) fn handle_end(&mut self) {
        self.orders = None;
    }

    /// Whether the thread has ended, by itself or as it was asked to.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end.
    pub(super) fn join(mut self) -> Result<Ended> {
        self.handle_end();
        let Some(thread) = self.thread.take() else { return Err(miette!("it was waited for")) };
        thread.join().unwrap_or_else(|_| Err(miette!("the thread of a modem failed: see above")))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.handle_end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Turns {
    fn run(mut self) -> Result<Ended> {
        // The devices first: whose flows follow the modem is said before the modem is heard. Where
        // it is over already, `serve` sees it.
        if let Ok(first) = self.orders.recv() {
            self.take(first);
        }
        let served = self.serve();
        let Self { mut modem, outputs, mut events, .. } = self;
        modem.keep_rates(&mut events);
        let last = outputs.end();
        let account = modem.account();
        events.end_of_modem();
        served.map(|()| Ended { account, last })
    }

    /// Goes on until it is asked to end and the modem has its log mask back.
    fn serve(&mut self) -> Result<()> {
        while !(self.is_over && self.modem.is_over()) {
            self.take_orders();
            let read = self.modem.read(TICK, &mut self.outputs, &mut self.events);
            if let Err(failure) = read {
                // Of the only modem that is the daemon's error.
                if self.is_over || !self.events.are_of_several() {
                    return Err(failure);
                }
                self.modem.handle_failed(&failure, &mut self.outputs, &mut self.events)?;
            }
            let now = monotonic_now();
            self.beat(now);
            self.modem.attend(now, &mut self.outputs, &mut self.events);
        }
        Ok(())
    }

    fn beat(&mut self, now: HostInstant) {
        self.outputs.attend(now, &mut self.events);
        self.said.store(now.as_nanos(), Ordering::Relaxed);
        let gap = self.beaten.replace(now).map_or(Duration::ZERO, |before| now - before);
        if gap > LATE {
            self.events.late(now, gap);
        }
    }

    fn take_orders(&mut self) {
        loop {
            match self.orders.try_recv() {
                Ok(order) => self.take(order),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    if !self.is_over {
                        self.is_over = true;
                        self.modem.handle_end();
                    }
                    return;
                }
            }
        }
    }

    fn take(&mut self, order: Order) {
        let Self { outputs, events, modem, place, .. } = self;
        match order {
            Order::Follow(radio, moved) => outputs.follow(&[radio], moved, events),
            Order::Feed(part) if part.place == *place => outputs.add_part(part),
            Order::Feed(_) => {}
            Order::Leave(number) => outputs.remove_part(number),
            Order::Change { ended, added, needs } => {
                outputs.remove(|section| ended.contains(&format!("{section:?}")));
                outputs.add(added);
                modem.handle_needs(&needs);
            }
        }
    }
}
