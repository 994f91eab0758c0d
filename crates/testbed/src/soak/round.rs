//! One round: a link with its modem, daemons and flows, until all of them have ended.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_bpf::inventory::{Object, alive, held_by};
use sounding_emu::{Config, Direction, Emulation, monotonic_now};
use sounding_laws::RadioController;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_sim::{PathConfig, QueueLimit};
use sounding_trace::Steps;
use sounding_units::{Bytes, HostInstant, Rate};

use super::crowd::{Crowd, Dice};
use super::machine::{Settings, claims_downlinks, resident_kib};
use super::{Plan, SoakError, Summary};
use crate::daemon::{Daemon, law_flags};
use crate::radio::RadioLink;

const DELAY: Duration = Duration::from_millis(20);
/// Looks and decisions.
const TICK: Duration = Duration::from_millis(50);
/// A daemon's memory counts from this age on, and may grow by this much: it reads a few kilobytes
/// at a time.
const SETTLED: Duration = Duration::from_secs(5);
const MAY_GROW_KIB: u64 = 4096;
/// The kernel frees programs a grace period after their last flow.
const PATIENCE: Duration = Duration::from_secs(15);
/// The device that the emulator gives its near end.
const DEVICE: &str = "radio0";

/// One round of at most `span`. Some rounds have downloads, if the kernel can limit them.
pub(super) fn run(
    plan: &Plan,
    seed: u64,
    downloads: bool,
    span: Duration,
    summary: &mut Summary,
) -> Result<(), SoakError> {
    let mut dice = Dice::new(seed);
    let direction =
        if dice.below(3) == 0 && downloads { Direction::Downlink } else { Direction::Uplink };
    let lasts = span + Duration::from_secs(5);
    let link = match direction {
        Direction::Uplink => RadioLink::generated(seed, lasts)?,
        Direction::Downlink => RadioLink::cell(Some(seed), lasts)?,
    };
    let pty = Pty::create(None).map_err(SoakError::Pty)?;
    let device = pty.path().to_path_buf();
    let queue = QueueLimit::bytes(Bytes::new(150_000));
    let radio = PathConfig { delay: DELAY, queue, ..PathConfig::new(link.offered.clone()) };
    let wide = Steps::constant(Rate::from_bits_per_sec(100_000_000));
    let wide = PathConfig { delay: DELAY, ..PathConfig::new(wide) };
    let emulation = Emulation::start(match direction {
        Direction::Uplink => Config::new(radio, wide),
        Direction::Downlink => Config::new(wide, radio),
    })?;
    let mut replay =
        Replay::new(&link.capture, ReplaySchedule::since(&link.capture, link.begin), pty, 1.0);
    let stop = AtomicBool::new(false);
    let mut keeper = Keeper {
        plan,
        device: &device,
        name: format!("soak{}", std::process::id() % 1_000_000),
        direction,
        dice,
        objects: BTreeSet::new(),
        summary,
    };
    let begin = emulation.started();
    let lived = thread::scope(|scope| {
        let modem = thread::Builder::new()
            .spawn_scoped(scope, || replay.run(begin, &stop, |_| {}))
            .map_err(SoakError::Thread)?;
        // On a thread that stays in the namespace: daemons go with the thread that started them.
        let lived = emulation.near().enter(|| keeper.live(&emulation, begin + span));
        stop.store(true, Ordering::Relaxed);
        let served = modem.join().expect("the replay does not panic");
        lived?.and(served.map(drop).map_err(SoakError::Pty))
    });
    let objects = std::mem::take(&mut keeper.objects);
    emulation.stop()?;
    lived?;
    wait_until_freed(&objects, summary);
    Ok(())
}

fn wait_until_freed(objects: &BTreeSet<Object>, summary: &mut Summary) {
    let from = monotonic_now();
    while !alive().is_disjoint(objects) && monotonic_now() - from < PATIENCE {
        thread::sleep(TICK);
    }
    let took = (monotonic_now() - from).as_secs_f64();
    summary.freed_within_s = summary.freed_within_s.max(took);
    let left: Vec<_> = alive().intersection(objects).copied().collect();
    if !left.is_empty() {
        summary.faults.push(format!("left in the kernel {took:.0} s after a round: {left:?}"));
    }
}

/// Starts and ends daemons and flows in a round.
struct Keeper<'a> {
    plan: &'a Plan,
    device: &'a Path,
    name: String,
    /// The radio's.
    direction: Direction,
    dice: Dice,
    /// All BPF objects that daemons of this round held.
    objects: BTreeSet<Object>,
    summary: &'a mut Summary,
}

/// A daemon, and until when it may live.
struct Running {
    daemon: Daemon,
    listener: RadioController,
    began: HostInstant,
    until: HostInstant,
    settled_kib: Option<u64>,
}

impl Keeper<'_> {
    fn live(&mut self, emulation: &Emulation, end: HostInstant) -> Result<(), SoakError> {
        let before = Settings::now(&self.name);
        let mut crowd = Crowd::default();
        let mut daemon = Some(self.start()?);
        let mut restart_at = end;
        while monotonic_now() < end {
            let now = monotonic_now();
            if let Some(running) = &mut daemon {
                self.watch(running, now);
            }
            if let Some(over) = daemon.take_if(|running| running.until <= now) {
                self.end(over, &before);
                let pause = self.dice.between(Duration::from_millis(200), Duration::from_secs(3));
                restart_at = monotonic_now() + pause;
            } else if daemon.is_none() && restart_at <= now {
                daemon = Some(self.start()?);
            }
            let ours = daemon.as_ref().map(|running| (self.name.as_str(), running.listener));
            crowd.grow(emulation, self.direction, ours, &mut self.dice, self.summary)?;
            crowd.shrink(false, self.summary)?;
            thread::sleep(TICK);
        }
        if let Some(last) = daemon {
            self.end(last, &before);
        }
        crowd.shrink(true, self.summary)?;
        Ok(())
    }

    fn start(&mut self) -> Result<Running, SoakError> {
        let share = ["equal", "app", "weighted"][self.dice.below(3) as usize];
        let all: Vec<_> = RadioController::all().collect();
        let listener = all[self.dice.below(all.len() as u32) as usize];
        let mut flags = vec!["--bound", "capacity", "--default", "--route", "default"];
        flags.extend(["--interface", DEVICE, "--share", share]);
        flags.extend(law_flags(listener));
        if self.direction == Direction::Downlink {
            let signal = ["window", "option", "both"][self.dice.below(3) as usize];
            flags.extend(["--downlink", signal]);
        }
        let daemon = Daemon::start(&self.plan.program, self.device, &self.name, &flags)?;
        self.summary.daemons += 1;
        self.objects.extend(held_by(daemon.id()));
        let began = monotonic_now();
        let (least, most) = (self.plan.restart_every / 2, self.plan.restart_every * 3 / 2);
        let until = began + self.dice.between(least, most);
        Ok(Running { daemon, listener, began, until, settled_kib: None })
    }

    fn watch(&mut self, running: &mut Running, now: HostInstant) {
        let Some(kib) = resident_kib(running.daemon.id()) else { return };
        self.summary.daemon_rss_kib = self.summary.daemon_rss_kib.max(kib);
        if now - running.began >= SETTLED {
            let settled = *running.settled_kib.get_or_insert(kib);
            let grown = kib.saturating_sub(settled);
            self.summary.daemon_growth_kib = self.summary.daemon_growth_kib.max(grown);
        }
    }

    /// Ends a daemon, one way or the other, and sees that the namespace is as before.
    fn end(&mut self, running: Running, before: &Settings) {
        let Running { daemon, settled_kib, .. } = running;
        let pid = daemon.id();
        self.objects.extend(held_by(pid));
        let grown =
            resident_kib(pid).zip(settled_kib).map_or(0, |(kib, was)| kib.saturating_sub(was));
        if grown > MAY_GROW_KIB {
            self.summary.faults.push(format!("a daemon grew by {grown} KiB"));
        }
        let kill = self.dice.below(2) == 0;
        let events = if kill { daemon.kill() } else { daemon.stop() };
        self.summary.killed += u32::from(kill);
        self.count(&events, kill);
        // The guard works on after a killed daemon, and its end is not waited for there.
        let restored = (0..100).any(|_| {
            thread::sleep(TICK);
            Settings::now(&self.name) == *before && !claims_downlinks(pid)
        });
        if !restored {
            let now = Settings::now(&self.name);
            let claims = claims_downlinks(pid);
            let fault =
                format!("not put back: {now:?}, was {before:?}; claims downlinks: {claims}");
            self.summary.faults.push(fault);
        }
    }

    fn count(&mut self, events: &[Json], killed: bool) {
        let of = |name: &str| events.iter().filter(|event| event["event"] == name).count() as u64;
        self.summary.transitions += of("transition");
        self.summary.late_heartbeats += of("late");
        if !killed && of("done") == 0 {
            self.summary.faults.push("a daemon did not end in good order".to_owned());
        }
        if of("not_counting") > 0 {
            self.summary.faults.push(format!("a daemon did not count flows over {DEVICE}"));
        }
    }
}
