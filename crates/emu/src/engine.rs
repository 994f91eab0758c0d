//! The thread that moves packets: it reads packets from the namespaces, lets the network's time
//! follow the clock, and writes the network's outputs.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::{read, write};
use sounding_host::{monotonic_now, thread_cpu};
use sounding_sim::{Carried, Device, Diag, LinkEvent, Network, Output};
use sounding_units::{Bytes, HostInstant};

use crate::burst::{Burst, ONE_BY_ONE};
use crate::collector::Sender;
use crate::counts::LiveCounts;
use crate::gso::VNET_HEADER;
use crate::lane::{Clock, Lane};
use crate::pool::Pool;
use crate::wait::{self, Plan, Punctuality, Ready, StopSignal};
use crate::wall_clock::ClockWatch;
use crate::{ClockLag, DirectionReport, Flow, Realtime, Slot, SnifferTap, Tap};

/// Maximum number of packets read from one device before departures are checked again. A burst of
/// this many takes about 100 us, which limits the delay of a departure.
const READ_BATCH: usize = 64;

/// Maximum number of steps of the network before devices are checked again: a network that is
/// behind must not block the rest.
const STEP_BATCH: usize = 64;

/// Buffers made before the first packet: 4 MiB of packets, the most a TCP sender with default
/// buffers has in flight.
const WARM_SLOTS: usize = 4096;

/// The data of the thread that moves packets.
pub(crate) struct Engine {
    /// The devices that have hosts.
    pub(crate) devices: Vec<Device>,
    /// The TUN devices: of the first device's host, of its far end, of the second device's host,
    /// and so on.
    pub(crate) tuns: Vec<OwnedFd>,
    /// The model, at time zero when the emulation started.
    pub(crate) network: Box<dyn Network<Slot> + Send>,
    pub(crate) started: HostInstant,
    /// Receives the output of modems.
    pub(crate) tap: Option<Tap>,
    pub(crate) sniffer: Option<SnifferTap>,
    pub(crate) mtu: u16,
    pub(crate) realtime: Realtime,
    pub(crate) sender: Sender,
    pub(crate) stop: StopSignal,
    /// Raised when a trace that is not repeated is used up.
    pub(crate) finished: Arc<AtomicBool>,
    pub(crate) counts: Arc<LiveCounts>,
}

/// The thread's result.
pub(crate) struct Finished {
    pub(crate) ended: HostInstant,
    /// Uplink and downlink of the first device, of the second, and so on.
    pub(crate) ways: Vec<DirectionReport>,
    pub(crate) pace: ClockLag,
    pub(crate) diag_lost: u64,
    pub(crate) cpu: Duration,
    pub(crate) sleeps: u64,
    pub(crate) result: io::Result<()>,
}

impl Engine {
    /// Moves packets until it is stopped.
    pub(crate) fn run(self) -> Finished {
        let Self {
            tuns,
            network,
            started,
            tap,
            sniffer,
            mtu,
            realtime,
            sender,
            stop,
            finished,
            counts,
            ..
        } = self;
        let lanes = self.devices.iter().flat_map(|device| Lane::both(*device)).collect();
        let mut mover = Mover {
            tuns,
            network,
            lanes,
            clock: Clock { started },
            reached: HostInstant::default(),
            owes: false,
            steps: 0,
            tap,
            sniffer,
            diag_lost: 0,
            pacer: ClockWatch::new(),
            pool: Pool::new(VNET_HEADER + usize::from(mtu), WARM_SLOTS, realtime.lock_memory),
            mtu: mtu.into(),
            burst: Burst::default(),
            sender,
            counts,
            events: Vec::new(),
        };
        let mut punctuality = Punctuality::new(realtime.overhead_percent, monotonic_now());
        let result = mover.run(&stop, &finished, &mut punctuality);
        let sleeps = punctuality.sleeps();
        let ended = monotonic_now();
        mover.publish();
        let Mover { lanes, sender, pacer, diag_lost, .. } = mover;
        sender.close();
        let ways = lanes.into_iter().map(Lane::into_report).collect();
        let pace = pacer.into_pace(ended);
        Finished { ended, ways, pace, diag_lost, cpu: thread_cpu(), sleeps, result }
    }
}

struct Mover {
    tuns: Vec<OwnedFd>,
    network: Box<dyn Network<Slot> + Send>,
    lanes: Vec<Lane>,
    clock: Clock,
    /// The network's time: the clock's, or earlier while it is behind.
    reached: HostInstant,
    /// Whether the network still had due steps at the last check.
    owes: bool,
    /// Steps since they were last counted.
    steps: u64,
    tap: Option<Tap>,
    sniffer: Option<SnifferTap>,
    diag_lost: u64,
    pacer: ClockWatch,
    pool: Pool,
    mtu: usize,
    burst: Burst,
    sender: Sender,
    counts: Arc<LiveCounts>,
    events: Vec<LinkEvent>,
}

impl Mover {
    fn run(
        &mut self,
        stop: &StopSignal,
        finished: &AtomicBool,
        punctuality: &mut Punctuality,
    ) -> io::Result<()> {
        let mut ready = Ready::all(self.tuns.len());
        let mut polled_since = None;
        while !stop.is_raised() {
            let mut moved = 0;
            for way in 0..self.tuns.len() {
                if ready.of(way) {
                    let read = self.read(way)?;
                    ready.set(way, read == READ_BATCH);
                    moved += read;
                }
                moved += self.advance()?;
            }
            self.take_events();
            let now = monotonic_now();
            match polled_since.take() {
                Some(since) if moved == 0 => punctuality.handle_poll(now - since),
                _ => self.publish(),
            }
            punctuality.handle_work(moved, std::mem::take(&mut self.steps), now);
            if self.owes {
                ready = Ready::all(self.tuns.len());
            }
            if ready.any() {
                continue;
            }
            if self.network.is_finished(self.reached) {
                finished.store(true, Ordering::Relaxed);
            }
            self.sender.flush_if_due(now);
            let deadline = self.network.wakeup().map(|at| self.clock.host(at));
            ready = Ready::all(self.tuns.len());
            match punctuality.plan(now, deadline) {
                Plan::Poll => polled_since = Some(now),
                Plan::Sleep(until) => {
                    let before = punctuality.wants_cost().then(thread_cpu);
                    ready = wait::wait(&self.tuns, stop, now, until)?;
                    let cost = before.map(|before| thread_cpu() - before);
                    let wake = until.filter(|_| !ready.any());
                    punctuality.handle_sleep(wake, monotonic_now(), cost);
                }
                Plan::Group(until) => {
                    wait::sleep(now, until);
                    punctuality.handle_sleep(None, until, None);
                }
            }
        }
        Ok(())
    }

    fn publish(&self) {
        self.counts.write(self.lanes.iter().map(|lane| (lane.direction, &lane.report)));
        self.counts.write_pace(self.pacer.lag(), self.pacer.times_behind());
    }

    /// Reads the packets from the sender of a direction. Returns their number: a full batch if
    /// there may be more.
    fn read(&mut self, way: usize) -> io::Result<usize> {
        for done in 0..READ_BATCH {
            let Some(index) = self.pool.take() else {
                let mut byte = [0; VNET_HEADER + 1];
                match read(&self.tuns[way], &mut byte) {
                    Ok(_) => self.lanes[way].report.unbuffered += 1,
                    Err(Errno::EAGAIN) => return Ok(done),
                    Err(error) => return Err(error.into()),
                }
                self.lanes[way].report.arrived += 1;
                continue;
            };
            let buffer = &mut self.pool.bytes_mut(index)[..VNET_HEADER + self.mtu];
            let len = match read(&self.tuns[way], buffer) {
                Ok(len) => len.saturating_sub(VNET_HEADER),
                Err(error) => {
                    self.pool.give(index);
                    return match error {
                        Errno::EAGAIN => Ok(done),
                        Errno::EINTR => Ok(READ_BATCH),
                        error => Err(error.into()),
                    };
                }
            };
            let slot =
                Slot { index, len: len as u16, flow: Flow::of(&buffer[VNET_HEADER..][..len]) };
            let size = Bytes::new(len as u64);
            if !self.owes {
                self.advance()?;
            }
            let lane = &mut self.lanes[way];
            lane.report.arrived += 1;
            lane.report.arrived_bytes += size;
            // A network that is behind is behind for all its users: it continues in its own time,
            // and every packet is late.
            self.network.handle_packet(self.reached, lane.port, size, slot);
        }
        Ok(READ_BATCH)
    }

    /// Advances the network's time to the clock, as far as a batch of steps goes. Returns how many
    /// packets were settled.
    ///
    /// It advances from one event to the next: an early event does not wait for the computation of
    /// later ones, and the lateness of each is known.
    fn advance(&mut self) -> io::Result<usize> {
        let now = self.clock.now();
        let mut settled = self.deliver()?;
        for _ in 0..STEP_BATCH {
            let due = self.network.wakeup().filter(|due| *due <= now);
            // A model with endless wakeups without events would block the rest.
            let goes_on = due.is_none_or(|due| due > self.reached);
            let to = due.filter(|_| goes_on).unwrap_or(now);
            self.network.handle_time(to);
            self.reached = to;
            settled += self.deliver()?;
            if let Some(due) = due {
                self.steps += 1;
                self.pacer.handle_step(self.clock.host(due), monotonic_now());
            }
            if to == now {
                self.owes = false;
                return Ok(settled);
            }
        }
        self.owes = true;
        Ok(settled)
    }

    /// Writes the network's output. Returns how many packets were settled.
    fn deliver(&mut self) -> io::Result<usize> {
        let mut settled = 0;
        while let Some((port, output)) = self.network.poll_output() {
            // A packet that leaves the network entered at a lane.
            let Some(way) = self.lanes.iter().position(|lane| lane.port == port) else { continue };
            settled += 1;
            match output {
                Output::Carried(carried) => self.handle_carried(way, carried)?,
                Output::Lost(lost) => {
                    self.pool.give(lost.payload.index);
                    self.sender.record(self.lanes[way].settle_lost(self.clock, lost));
                }
            }
        }
        self.write_burst()?;
        while let Some(diag) = self.network.poll_diag() {
            let Some(tap) = &mut self.tap else { continue };
            let diag = Diag { at: self.clock.host(diag.at), ..diag };
            // This does not wait: output that is not taken is lost, as between a modem and its
            // host.
            self.diag_lost += u64::from(!tap.take(diag));
        }
        while let Some((_, heard)) = self.network.poll_heard() {
            if let Some(sniffer) = &mut self.sniffer {
                sniffer.take(heard);
            }
        }
        Ok(settled)
    }

    /// Writes a packet, or holds it back if it is one of very many.
    fn handle_carried(&mut self, way: usize, carried: Carried<Slot>) -> io::Result<()> {
        if self.burst.ends_before(way, carried.exits) {
            self.write_burst()?;
        }
        let lane = &mut self.lanes[way];
        if self.burst.is_empty() && lane.delivered_of(self.clock, carried.exits) < ONE_BY_ONE {
            let written =
                write(&self.tuns[way ^ 1], framed(&self.pool, carried.payload)).map(|_| ());
            self.pool.give(carried.payload.index);
            self.sender.record(lane.settle(self.clock, carried, monotonic_now(), written)?);
        } else {
            self.burst.hold(way, carried);
        }
        Ok(())
    }

    /// Writes the packets that are held back.
    fn write_burst(&mut self) -> io::Result<()> {
        let Some(way) = self.burst.arrange(|slot| packet(&self.pool, slot)) else { return Ok(()) };
        let (lane, tun) = (&mut self.lanes[way], &self.tuns[way ^ 1]);
        for (run, carried) in self.burst.groups() {
            let packets = carried.clone().map(|carried| packet(&self.pool, carried.payload));
            // A device that refuses a superpacket may accept its packets.
            let together = run.filter(|run| lane.write_together(tun, run, packets));
            let mut now = monotonic_now();
            for carried in carried {
                let mut written = Ok(());
                if together.is_some() {
                    lane.report.coalesced += 1;
                } else {
                    written = write(tun, framed(&self.pool, carried.payload)).map(|_| ());
                    now = monotonic_now();
                }
                self.pool.give(carried.payload.index);
                self.sender.record(lane.settle(self.clock, carried, now, written)?);
            }
        }
        self.burst.clear();
        Ok(())
    }

    /// Takes the events that links logged. A log belongs to one device, because only links have
    /// one.
    fn take_events(&mut self) {
        for Lane { port, direction, .. } in self.lanes.iter().take(2) {
            let direction = *direction;
            if self.sender.wants_events(direction) {
                self.network.drain_events(*port, &mut self.events);
                for event in self.events.drain(..) {
                    self.sender.event(direction, event);
                }
            }
        }
    }
}

/// A packet with the header of its device, as read.
fn framed(pool: &Pool, slot: Slot) -> &[u8] {
    &pool.bytes(slot.index)[..VNET_HEADER + usize::from(slot.len)]
}

fn packet(pool: &Pool, slot: Slot) -> &[u8] {
    &framed(pool, slot)[VNET_HEADER..]
}
