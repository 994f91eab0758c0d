use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use sounding_units::HostInstant;

/// Ends the thread that moves packets.
#[derive(Clone)]
pub(crate) struct StopSignal(Arc<Stop>);

struct Stop {
    event: EventFd,
    flag: AtomicBool,
}

impl StopSignal {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let event = EventFd::from_value_and_flags(0, flags)?;
        Ok(Self(Arc::new(Stop { event, flag: AtomicBool::new(false) })))
    }

    pub(crate) fn raise(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        // The write fails only if the counter is full, and then the thread is woken anyway.
        let _ = self.0.event.write(1);
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }
}

/// Which of the TUN devices have packets to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ready(Vec<bool>);

impl Ready {
    /// All `count` devices: none is known to be idle.
    pub(crate) fn all(count: usize) -> Self {
        Self(vec![true; count])
    }

    pub(crate) fn of(&self, device: usize) -> bool {
        self.0[device]
    }

    pub(crate) fn set(&mut self, device: usize, ready: bool) {
        self.0[device] = ready;
    }

    pub(crate) fn any(&self) -> bool {
        self.0.contains(&true)
    }
}

/// Decides between sleeping, polling and moving packets in groups, and measures the cost of a sleep
/// on this machine.
///
/// A sleep costs the CPU time of becoming idle and waking up, and it ends later than requested:
/// about 3 us each on bare metal, 25 and 36 us on a virtual machine. Both are measured
/// continuously.
#[derive(Debug)]
pub(crate) struct Punctuality {
    percent: u64,
    /// Nanoseconds of a core that may be spent; negative when overspent.
    credit: i64,
    /// When credit was last added.
    credited: HostInstant,
    /// Packets moved and steps of the network done since `counted`.
    moved: u64,
    steps: u64,
    counted: HostInstant,
    /// Packets and steps a second in the last whole window.
    packet_rate: u64,
    step_rate: u64,
    /// CPU time of one sleep.
    sleep_cost: Duration,
    /// How late a sleep ends; nine of ten sleeps end earlier.
    oversleep: Duration,
    sleeps: u64,
}

/// What to do until the next departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Poll the devices: the departure is nearer than a wake-up takes.
    Poll,
    /// Sleep until then, or until a packet comes.
    Sleep(Option<HostInstant>),
    /// Sleep until then, also if packets arrive: the CPU credit is used up.
    Group(HostInstant),
}

impl Punctuality {
    /// Credit that can be saved up: a burst of this much may be served with full punctuality.
    const MAX_CREDIT: i64 = 5_000_000;
    /// Packets per second (input and output counted separately) up to which each gets full
    /// punctuality: 30 Mbit/s of TCP. Chosen with `lab run emu-ceiling` of commit bcf26b88.
    const FEW: u64 = 8_000;
    /// Steps of a network per second up to which a group ends with each of them: the slots of a
    /// modelled cell, which come about as often as groups do. If every packet is a step, groups
    /// end when they may.
    const FEW_STEPS: u64 = 4_000;
    /// Debt beyond this is forgiven: without a bound, a minute of many packets would leave groups
    /// for seconds after it.
    const MAX_DEBT: i64 = 5_000_000;
    /// How long packets are counted for their rate.
    const WINDOW: Duration = Duration::from_millis(50);
    /// Polling for longer than this is never worth it: wake-ups this late are the machine's load,
    /// not its habit.
    const MAX_POLL: Duration = Duration::from_micros(150);
    /// A group of packets is never later than this. Chosen: mahimahi's p95 is twice as much.
    const MAX_GROUP: Duration = Duration::from_micros(500);

    pub(crate) fn new(percent: u8, now: HostInstant) -> Self {
        Self {
            percent: percent.min(100).into(),
            credit: Self::MAX_CREDIT,
            credited: now,
            moved: 0,
            steps: 0,
            counted: now,
            packet_rate: 0,
            step_rate: 0,
            sleep_cost: Duration::from_micros(25),
            oversleep: Duration::from_micros(40),
            sleeps: 0,
        }
    }

    pub(crate) fn plan(&mut self, now: HostInstant, deadline: Option<HostInstant>) -> Plan {
        let span = (now - self.credited).as_nanos() as u64;
        // Many packets are worth less punctuality each, and grouping them saves more.
        let worth = self.packet_rate.max(Self::FEW);
        let earned = span.saturating_mul(self.percent * Self::FEW) / (100 * worth);
        self.credit = self.credit.saturating_add_unsigned(earned).min(Self::MAX_CREDIT);
        self.credited = now;
        if self.credit < 0 {
            let owed = Duration::from_nanos(
                self.credit.unsigned_abs() + self.sleep_cost.as_nanos() as u64,
            );
            let span = owed * 100 / (self.percent as u32).max(1);
            let until = now + span.min(Self::MAX_GROUP);
            let step = deadline.filter(|_| self.step_rate <= Self::FEW_STEPS);
            return Plan::Group(step.map_or(until, |step| until.min(step)));
        }
        match deadline {
            Some(deadline) if deadline - now <= self.oversleep => Plan::Poll,
            Some(deadline) => Plan::Sleep(Some(deadline.saturating_before(self.oversleep))),
            None => Plan::Sleep(None),
        }
    }

    /// The thread moved this many packets, and the network did this many steps.
    pub(crate) fn handle_work(&mut self, moved: usize, steps: u64, now: HostInstant) {
        self.moved += moved as u64;
        self.steps += steps;
        let window = now - self.counted;
        if window >= Self::WINDOW {
            let per_second = |count: u64| {
                let rate = u128::from(count) * 1_000_000_000 / window.as_nanos();
                u64::try_from(rate).unwrap_or(u64::MAX)
            };
            (self.packet_rate, self.step_rate) = (per_second(self.moved), per_second(self.steps));
            (self.moved, self.steps, self.counted) = (0, 0, now);
        }
    }

    /// The thread polled for this long without moving a packet.
    pub(crate) fn handle_poll(&mut self, span: Duration) {
        self.charge(span);
    }

    /// The thread slept until `now`; `wake` is when it wanted to be woken, if nothing else woke it.
    pub(crate) fn handle_sleep(
        &mut self,
        wake: Option<HostInstant>,
        now: HostInstant,
        cpu: Option<Duration>,
    ) {
        self.sleeps += 1;
        if let Some(cpu) = cpu {
            self.sleep_cost = (self.sleep_cost * 7 + cpu.min(Self::MAX_POLL)) / 8;
        }
        if let Some(late) = wake.map(|wake| (now - wake).min(Self::MAX_POLL)) {
            // Rising nine times as fast as falling settles where one in ten is above.
            if late > self.oversleep {
                self.oversleep += (late - self.oversleep).min(Duration::from_micros(9));
            } else {
                self.oversleep -= (self.oversleep - late).min(Duration::from_micros(1));
            }
        }
        self.charge(self.sleep_cost);
    }

    /// Whether to measure the CPU time of the next sleep: that costs another system call.
    pub(crate) fn wants_cost(&self) -> bool {
        self.sleeps.is_multiple_of(64)
    }

    pub(crate) fn sleeps(&self) -> u64 {
        self.sleeps
    }

    fn charge(&mut self, span: Duration) {
        self.credit = (self.credit - span.as_nanos() as i64).max(-Self::MAX_DEBT);
    }
}

/// Sleeps until `until`, without interruption.
pub(crate) fn sleep(now: HostInstant, until: HostInstant) {
    std::thread::sleep(until - now);
}

/// Sleeps until one of `devices` can be read, `stop` is raised, or `deadline` comes.
pub(crate) fn wait(
    devices: &[OwnedFd],
    stop: &StopSignal,
    now: HostInstant,
    deadline: Option<HostInstant>,
) -> io::Result<Ready> {
    let mut polled: Vec<_> = devices
        .iter()
        .map(AsFd::as_fd)
        .chain([stop.0.event.as_fd()])
        .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
        .collect();
    // An hour replaces a longer timeout than the call accepts.
    let timeout = deadline.map(|deadline| (deadline - now).min(Duration::from_secs(3600)));
    match ppoll(&mut polled, timeout.map(TimeSpec::from_duration), None) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let readable = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
    Ok(Ready(polled[..devices.len()].iter().map(readable).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> HostInstant {
        HostInstant::from_nanos(micros * 1_000)
    }

    /// After a second of many packets, and this many steps, at full credit and then without any.
    fn overspent(steps: u64) -> Punctuality {
        let mut punctuality = Punctuality::new(10, at(0));
        for _ in 0..10 {
            punctuality.handle_poll(Duration::from_secs(1));
        }
        punctuality.handle_work(25_000, steps, at(1_000_000));
        punctuality.credited = at(1_000_000);
        punctuality
    }

    #[test]
    fn a_group_ends_with_the_slot_of_a_cell_and_not_with_each_packet_of_a_link() {
        let soon = at(1_000_200);
        assert_eq!(overspent(3_000).plan(at(1_000_000), Some(soon)), Plan::Group(soon));
        let end = Plan::Group(at(1_000_500));
        assert_eq!(overspent(25_000).plan(at(1_000_000), Some(soon)), end);
        assert_eq!(overspent(3_000).plan(at(1_000_000), None), end);
    }

    #[test]
    fn what_was_overspent_on_many_packets_is_soon_forgiven() {
        let mut punctuality = overspent(0);
        punctuality.handle_work(0, 0, at(1_100_000));
        let plan = punctuality.plan(at(1_100_000), None);
        assert!(matches!(plan, Plan::Sleep(None)), "{plan:?}");
    }
}
