//! The thread that moves packets: reads what the namespaces send, asks the links what is due, writes it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::{read, write};
use sounding_host::{monotonic_now, thread_cpu};
use sounding_sim::{Carried, LinkEvent, Lost, Output, Pipe};
use sounding_units::{Bytes, HostInstant};

use crate::collector::Sender;
use crate::counts::LiveCounts;
use crate::pool::Pool;
use crate::report::Lateness;
use crate::wait::{self, Plan, Punctuality, Ready, StopSignal};
use crate::{Direction, DirectionReport, Flow, KernelDrops, Outcome, PacketRecord, Realtime, Slot};

/// Packets read from one device before departures are looked after again. A burst of this many takes about 100 us,
/// which bounds how late it can make a departure.
const READ_BATCH: usize = 64;

/// Buffers made before the first packet: 4 MiB of packets, the most a TCP sender with default buffers has in flight.
const WARM_SLOTS: usize = 4096;

/// What the thread that moves packets owns.
pub(crate) struct Engine {
    /// The devices of near and far.
    pub(crate) devices: [OwnedFd; 2],
    /// The models of up (from device 0 to 1) and down (from 1 to 0).
    pub(crate) pipes: [Box<dyn Pipe<Slot> + Send>; 2],
    pub(crate) mtu: u16,
    pub(crate) realtime: Realtime,
    pub(crate) sender: Sender,
    pub(crate) stop: StopSignal,
    /// Raised when a trace that is not repeated is used up.
    pub(crate) finished: Arc<AtomicBool>,
    pub(crate) counts: Arc<LiveCounts>,
}

/// What the thread leaves behind.
pub(crate) struct Finished {
    pub(crate) ended: HostInstant,
    pub(crate) ways: [DirectionReport; 2],
    pub(crate) cpu: Duration,
    pub(crate) sleeps: u64,
    pub(crate) result: io::Result<()>,
}

struct Lane {
    direction: Direction,
    pipe: Box<dyn Pipe<Slot> + Send>,
    report: DirectionReport,
}

impl Engine {
    /// Moves packets until told to stop.
    pub(crate) fn run(self) -> Finished {
        let Self { devices, pipes, mtu, realtime, sender, stop, finished, counts } = self;
        let [up, down] = pipes;
        let mut mover = Mover {
            devices,
            lanes: [Lane::new(Direction::Up, up), Lane::new(Direction::Down, down)],
            pool: Pool::new(mtu.into(), WARM_SLOTS, realtime.lock_memory),
            mtu: mtu.into(),
            sender,
            counts,
            events: Vec::new(),
        };
        let mut punctuality = Punctuality::new(realtime.overhead_percent, monotonic_now());
        let result = mover.run(&stop, &finished, &mut punctuality);
        let sleeps = punctuality.sleeps();
        let ended = monotonic_now();
        let Mover { lanes, sender, .. } = mover;
        sender.close();
        let ways = lanes.map(|lane| {
            let inside = lane.pipe.backlog();
            let Lane { mut report, .. } = lane;
            report.queued = inside.packets;
            report.queued_bytes = inside.bytes;
            report
        });
        let cpu = thread_cpu();
        Finished { ended, ways, cpu, sleeps, result }
    }
}

impl Lane {
    fn new(direction: Direction, pipe: Box<dyn Pipe<Slot> + Send>) -> Self {
        let report = DirectionReport {
            arrived: 0,
            arrived_bytes: Bytes::ZERO,
            delivered: 0,
            delivered_bytes: Bytes::ZERO,
            dropped: 0,
            dropped_bytes: Bytes::ZERO,
            refused: 0,
            unbuffered: 0,
            queued: 0,
            queued_bytes: Bytes::ZERO,
            kernel: KernelDrops::default(),
            lateness: Lateness::new(),
        };
        Self { direction, pipe, report }
    }
}

struct Mover {
    devices: [OwnedFd; 2],
    lanes: [Lane; 2],
    pool: Pool,
    mtu: usize,
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
        let mut ready = Ready([true, true]);
        let mut polled_since = None;
        while !stop.is_raised() {
            let mut moved = 0;
            for way in [0, 1] {
                if ready.0[way] {
                    let read = self.read(way)?;
                    ready.0[way] = read == READ_BATCH;
                    moved += read;
                }
                moved += self.deliver(way)?;
            }
            let now = monotonic_now();
            match polled_since.take() {
                Some(since) if moved == 0 => punctuality.handle_poll(now - since),
                _ => self.publish_counts(),
            }
            punctuality.handle_packets(moved, now);
            if ready != Ready::default() {
                continue;
            }
            if self.lanes.iter().any(|lane| lane.pipe.is_finished(now)) {
                finished.store(true, Ordering::Relaxed);
            }
            self.sender.flush_if_due(now);
            let deadline = self.lanes.iter().filter_map(|lane| lane.pipe.wakeup()).min();
            ready = Ready([true, true]);
            match punctuality.plan(now, deadline) {
                Plan::Poll => polled_since = Some(now),
                Plan::Sleep(until) => {
                    let before = punctuality.wants_cost().then(thread_cpu);
                    ready = wait::wait([&self.devices[0], &self.devices[1]], stop, now, until)?;
                    let cost = before.map(|before| thread_cpu() - before);
                    let wake = until.filter(|_| ready == Ready::default());
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

    fn publish_counts(&self) {
        for lane in &self.lanes {
            self.counts.write(lane.direction, &lane.report);
        }
    }

    /// Reads what the sender of a direction has sent, and says how many packets: a full batch if there may be more.
    fn read(&mut self, way: usize) -> io::Result<usize> {
        let lane = &mut self.lanes[way];
        for done in 0..READ_BATCH {
            let Some(index) = self.pool.take() else {
                let mut byte = [0];
                match read(&self.devices[way], &mut byte) {
                    Ok(_) => lane.report.unbuffered += 1,
                    Err(Errno::EAGAIN) => return Ok(done),
                    Err(error) => return Err(error.into()),
                }
                lane.report.arrived += 1;
                continue;
            };
            let buffer = &mut self.pool.bytes(index)[..self.mtu];
            let len = match read(&self.devices[way], buffer) {
                Ok(len) => len,
                Err(error) => {
                    self.pool.give(index);
                    return match error {
                        Errno::EAGAIN => Ok(done),
                        Errno::EINTR => Ok(READ_BATCH),
                        error => Err(error.into()),
                    };
                }
            };
            let slot = Slot { index, len: len as u16, flow: Flow::of(&buffer[..len]) };
            let size = Bytes::new(len as u64);
            lane.report.arrived += 1;
            lane.report.arrived_bytes += size;
            lane.pipe.handle_packet(monotonic_now(), size, slot);
        }
        Ok(READ_BATCH)
    }

    /// Writes what is due in a direction, and says how many packets were settled.
    fn deliver(&mut self, way: usize) -> io::Result<usize> {
        let lane = &mut self.lanes[way];
        let mut settled = 0;
        lane.pipe.handle_time(monotonic_now());
        let output_device = &self.devices[1 - way];
        while let Some(output) = lane.pipe.poll_output() {
            let (slot, record) = match output {
                Output::Carried(carried) => {
                    let slot = carried.payload;
                    let bytes = &self.pool.bytes(slot.index)[..usize::from(slot.len)];
                    let written = write(output_device, bytes);
                    (slot, lane.settle(carried, written)?)
                }
                Output::Lost(lost) => (lost.payload, lane.settle_lost(lost)),
            };
            settled += 1;
            self.pool.give(slot.index);
            self.sender.record(record);
        }
        if self.sender.wants_events(lane.direction) {
            lane.pipe.drain_events(&mut self.events);
            for event in self.events.drain(..) {
                self.sender.event(lane.direction, event);
            }
        }
        Ok(settled)
    }
}

impl Lane {
    fn settle(
        &mut self,
        carried: Carried<Slot>,
        written: Result<usize, Errno>,
    ) -> io::Result<PacketRecord> {
        let now = monotonic_now();
        let outcome = match written {
            Ok(_) => {
                self.report.delivered += 1;
                self.report.delivered_bytes += carried.size;
                self.report.lateness.record(now - carried.exits);
                Outcome::Delivered {
                    joined: carried.joined,
                    left: carried.left,
                    due: carried.exits,
                    written: now,
                }
            }
            // EIO: somebody set the device down. EINVAL: no IP packet. The rest: no memory or no room.
            Err(
                Errno::EIO
                | Errno::EINVAL
                | Errno::EAGAIN
                | Errno::ENOBUFS
                | Errno::ENOMEM
                | Errno::EINTR,
            ) => {
                self.report.refused += 1;
                Outcome::Refused { at: now }
            }
            Err(error) => return Err(error.into()),
        };
        Ok(PacketRecord {
            direction: self.direction,
            size: carried.size,
            flow: carried.payload.flow,
            entered: carried.entered,
            outcome,
        })
    }

    fn settle_lost(&mut self, lost: Lost<Slot>) -> PacketRecord {
        self.report.dropped += 1;
        self.report.dropped_bytes += lost.size;
        PacketRecord {
            direction: self.direction,
            size: lost.size,
            flow: lost.payload.flow,
            entered: lost.entered,
            outcome: Outcome::Dropped { at: lost.dropped },
        }
    }
}
