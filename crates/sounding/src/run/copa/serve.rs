//! What is read, and what is due whether bytes came or not.

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use nix::net::if_::if_nametoindex;
use sounding_bpf::CopaInstance;
use sounding_diag::LogCode;
use sounding_host::monotonic_now;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Counts, Seen, Sounder};
use sounding_modem::{Framing, Live, READ_SIZE, Read, Retry, Source};
use sounding_units::HostInstant;

use super::Copa;
use crate::run::TICK;
use crate::run::reopen::Reopening;
use crate::run::sleep::Sleep;

/// How often the modem's network devices are looked for: one that reboots has a new one under the old name.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A port without one valid frame for this long is not a modem's, or its modem logs nothing.
const MUTE_AFTER: Duration = Duration::from_secs(5);
/// A modem that does not take its masks back within this keeps those of this daemon.
const PUT_BACK: Duration = Duration::from_secs(2);

/// A modem that is read.
pub(super) struct Modem {
    live: Live,
    source: Source,
    sounder: Sounder,
    names: Vec<String>,
    numbers: Vec<u32>,
    looked: Option<HostInstant>,
    retry: Retry,
    reopening: Option<Reopening>,
    opened: HostInstant,
    warned_mute: bool,
    sleep: Sleep,
}

impl Modem {
    pub(super) fn new(live: Live, source: Source, names: Vec<String>, now: HostInstant) -> Self {
        Self {
            live,
            source,
            sounder: Sounder::new(Config::new(Direction::Uplink)).with_delays(),
            names,
            numbers: Vec::new(),
            looked: None,
            retry: Retry::new(now),
            reopening: None,
            opened: now,
            warned_mute: false,
            sleep: Sleep::default(),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.sounder.counts()
    }

    pub(super) fn switched_off(&self) -> Vec<LogCode> {
        self.live.switched_off().to_vec()
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self, buffer: &mut [u8], instance: &mut CopaInstance) -> Result<Read> {
        let read = self.live.read(buffer, TICK).into_diagnostic()?;
        if let Read::Bytes(count) = read {
            let now = monotonic_now();
            let live = &mut self.live;
            let framing = live.framing();
            let watch = |_: &Sounder, seen: Seen<'_>| match seen {
                Seen::Record(record) => live.handle_log(now, record),
                Seen::Other { command, body } => live.handle_other(now, command, body),
                Seen::Next(_) | Seen::Kpi(_) => {}
            };
            let (arrival, bytes) = (Arrival::At(now), &buffer[..count]);
            match framing {
                Framing::Hdlc => self.sounder.handle_bytes(arrival, bytes, watch),
                Framing::Packet => self.sounder.handle_payload(arrival, bytes, watch),
            }
            self.tell(instance);
        }
        Ok(read)
    }

    /// Flows learn of the delays that the last bytes had.
    fn tell(&mut self, instance: &mut CopaInstance) {
        if let Some(update) = self.sounder.poll_delays() {
            instance.delays().handle_update(update);
        }
    }

    /// Withdraws what is known of the radio: it is of before.
    fn forget(&mut self, instance: &mut CopaInstance) {
        self.sounder.handle_disconnect();
        instance.delays().forget();
    }

    /// Follows the modem's network devices.
    fn look(&mut self, now: HostInstant, instance: &mut CopaInstance) {
        if self.looked.is_some_and(|looked| now - looked < LOOK_EVERY) {
            return;
        }
        self.looked = Some(now);
        let number = |name: &String| if_nametoindex(name.as_str()).unwrap_or_default();
        let numbers: Vec<u32> = self.names.iter().map(number).collect();
        if numbers != self.numbers {
            // Without a way to distinguish namespaces (Linux before 5.14), all flows are the modem's as before.
            let _ = instance.set_radios(&numbers);
            self.numbers = numbers;
        }
    }
}

impl Copa {
    /// Reads the port until `stop`; a port that closes is waited for.
    pub(super) fn serve(&mut self) -> Result<()> {
        let mut buffer = vec![0; READ_SIZE];
        while !self.stop.load(Ordering::Relaxed) {
            self.read(&mut buffer)?;
            self.attend();
        }
        Ok(())
    }

    /// Gives the modem its masks back, while everything goes on.
    pub(super) fn put_back(&mut self) -> Result<()> {
        let begin = monotonic_now();
        let mut buffer = vec![0; READ_SIZE];
        if let Some(modem) = &mut self.modem {
            modem.live.handle_end(begin);
        }
        while self.modem.as_ref().is_some_and(|modem| !modem.live.is_over())
            && monotonic_now() - begin < PUT_BACK
        {
            self.read(&mut buffer)?;
            self.attend();
        }
        Ok(())
    }

    /// Bytes of the port, or a wait.
    fn read(&mut self, buffer: &mut [u8]) -> Result<()> {
        let Self { modem, instance, events, .. } = self;
        let Some(modem) = modem else {
            std::thread::sleep(TICK);
            return Ok(());
        };
        if modem.live.is_open() {
            if modem.read(buffer, instance)? == Read::Closed {
                modem.forget(instance);
                let wait = modem.retry.handle_closed(monotonic_now());
                events.closed(&modem.source, wait);
                if modem.source.may_return() {
                    let again = Reopening::start(modem.source.clone(), wait);
                    modem.reopening = Some(again.into_diagnostic()?);
                }
            }
            return Ok(());
        }
        std::thread::sleep(TICK);
        if let Some(transport) = modem.reopening.as_ref().and_then(Reopening::poll) {
            modem.reopening = None;
            modem.live.reopen(transport);
            modem.opened = monotonic_now();
            modem.retry.handle_opened(modem.opened);
            modem.warned_mute = false;
            events.reopened(&modem.source);
        }
        Ok(())
    }

    /// What is due.
    fn attend(&mut self) {
        let now = monotonic_now();
        self.supervisor.beat(now);
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, &mut self.events);
        }
        let Self { modem: Some(modem), instance, events, .. } = self else { return };
        modem.live.tick(now);
        if let Some(slept) = modem.sleep.look() {
            modem.forget(instance);
            events.slept(slept);
        }
        modem.look(now, instance);
        while let Some(event) = modem.live.poll_event() {
            events.session(&event);
        }
        let stream = modem.sounder.counts().stream;
        if !modem.warned_mute && stream.frames.good == 0 && now - modem.opened >= MUTE_AFTER {
            modem.warned_mute = true;
            events.mute(&modem.source, stream.frames.bytes);
        }
    }
}
