//! The daemon: modem to link to kernel.

mod config;
mod config_error;
mod downlink;
mod event_queue;
mod events;
mod foreign_flows;
mod hardware;
mod peers;
mod posts;
mod reopen;
mod rights;
mod server;
mod share;
mod sleep;
mod supervisor;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_bpf::{Feed, Instance, Lull, MAX_RADIOS};
use sounding_diag::session::Wanted;
use sounding_host::{monotonic_now, prefer_this_thread};
use sounding_link::{Arrival, LinkEstimate, Seen, Sounder, State};
use sounding_modem::{Framing, Live, OpenError, READ_SIZE, Read, Retry, Source, Transport};
use sounding_units::HostInstant;

use crate::doctor::refuse_held;
use crate::guard::Guard;
use crate::{board, cli_types, signals};
use config::{Config, Flags};
use downlink::Receiving;
use events::Events;
use foreign_flows::Others;
use hardware::Hardware;
use peers::Hearing;
use posts::Posts;
use reopen::Reopening;
use rights::drop_rights;
use sleep::Sleep;
use supervisor::Supervisor;

/// Feeds the modem's view of the link to the kernel, until Ctrl-C
#[derive(Args, Debug)]
#[command(after_help = "\
Loads BISCAY into this kernel, or with --law sounding this project's own law, and keeps it fed. Sockets choose it by name:
setsockopt(TCP_CONGESTION), --route or --default. When the modem or this daemon is silent, flows go on as BBR, or as CUBIC with
--fallback cubic, and come back by themselves. Whatever this daemon changed is put back when it ends, also when it is killed.

The modem is asked who it is and given the smallest log mask that an estimate needs; the mask found is put back at the end.
A port that does not answer is read as it is. Where the port offers it, the modem's buffer is drained every millisecond.

With --downlink it also throttles who sends to this machine to what the downlink carries, by the receive windows of its
sockets; what sends need not know of it. Where the other end is a server of yours, --downlink option writes the rate into
the acknowledgements, and `sounding run --peers` there has its flows obey it: up to --peers-at-most, and up to three times
what was delivered to the device lately.

Examples:
  sudo sounding run --device /dev/ttyUSB0
  sudo sounding run --device /dev/ttyUSB0 --law sounding
  sudo sounding run --device /dev/wwan0qcdm0 --budget 1Mbit
  sudo sounding run --device tcp:192.168.1.5:43555 --no-mask
  sudo sounding run --device /dev/ttyUSB0 --default
  sudo sounding run --device /dev/ttyUSB0 --downlink window --interface wwan0
  sudo sounding run --peers --default               on a server
  sudo sounding run --peers --peers-at-most 200Mbit --default
  sudo sounding run --device /dev/ttyUSB0 --interface wwan0 --share app
  sudo sounding run --config /etc/sounding.toml
  iperf3 --client HOST --congestion biscay          a flow that uses it")]
pub(crate) struct Run {
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
    /// Check the configuration and do nothing
    #[arg(long)]
    check_config: bool,
    /// Print a commented configuration file with every default
    #[arg(long)]
    example_config: bool,
    /// Print what happens as JSON lines on standard output
    #[arg(long)]
    json: bool,
}

/// A heartbeat at least this often: the kernel side takes 60 ms of silence for a dead daemon.
const TICK: Duration = Duration::from_millis(5);

/// A heartbeat this long after the one before is reported: a fallback for silence may follow, and this is its reason.
const LATE: Duration = Duration::from_millis(40);

/// An estimate at least this often while records come in.
const PUBLISH_EVERY: Duration = Duration::from_millis(10);

/// A port without one valid frame for this long is not a modem's, or its modem logs nothing.
const MUTE_AFTER: Duration = Duration::from_secs(5);

/// A modem that does not take its masks back within this keeps those of this daemon.
const PUT_BACK: Duration = Duration::from_secs(2);

pub(crate) fn run(args: Run) -> Result<ExitCode> {
    if args.example_config {
        print!("{}", config::EXAMPLE);
        return Ok(ExitCode::SUCCESS);
    }
    let mut config = Config::load(args.config.as_deref(), args.flags).into_diagnostic()?;
    if config.board.is_some() {
        board::subscription(&config.kpis)?;
    }
    if args.check_config {
        println!("the configuration is sound");
        return Ok(ExitCode::SUCCESS);
    }
    let stop = signals::stop_flag().into_diagnostic()?;
    // Before this thread asks for a real-time priority, which its threads would inherit.
    let mut events = Events::new(args.json, config.fallback).into_diagnostic()?;
    let supervisor = Supervisor::find().into_diagnostic()?;

    let hardware = match &config.device {
        Some(device) if config.interfaces.is_empty() => Hardware::behind(device),
        _ => None,
    };
    // They may come later.
    config.sharing.others |= hardware.is_some();
    let bpf = sounding_bpf::Config {
        name: config.name.clone(),
        law: config.law,
        fallback: config.fallback,
        settings: config.settings,
        sharing: config.sharing.clone(),
    };
    if config.interfaces.len() > MAX_RADIOS {
        return Err(miette!("a modem has at most {MAX_RADIOS} network devices: --interface"));
    }
    let Some(device) = config.device.clone() else {
        return server::serve(&config, &bpf, &stop, (events, supervisor))
            .map(|()| ExitCode::SUCCESS);
    };

    // The port first: a wrong device then leaves the kernel untouched.
    let port = open(&device)?;
    if config.interfaces.is_empty() {
        config
            .name_interfaces(hardware.as_ref().map(Hardware::network_devices).unwrap_or_default());
        events.interfaces(&config.interfaces);
    }
    let posts = match &config.board {
        Some(name) => Some(Posts::new(name, &config.kpis)?),
        None => None,
    };
    let wanted = config.mask.then(|| {
        // What the estimate needs first: the budget takes from the end.
        let channel = config.link.method.channel_codes();
        let other = config.downlink.reads_besides(config.link.direction);
        let besides = other.map_or(&[][..], sounding_kpi::codes);
        let needed = sounding_kpi::codes(config.link.direction).iter().chain(besides);
        let needed = needed.chain(channel).copied();
        let posted = posts.iter().flat_map(Posts::codes);
        Wanted {
            codes: needed.chain(posted).collect(),
            budget_bytes_per_sec: config.budget.map(|rate| rate.bits_per_sec() / 8),
        }
    });
    let instance = load(&bpf)?;
    let mut guard = Guard::start().into_diagnostic()?;
    guard.keep_name(&instance).into_diagnostic()?;
    // What may be refused comes before what changes the machine.
    let hearing = config.downlink.listen(&instance, &mut events)?;
    let receiving = config.downlink.start(config.told_of_downlink(), &mut guard, &mut events)?;
    if config.default {
        guard.set_default(&config.name).into_diagnostic()?;
    }
    for route in &config.routes {
        guard.set_route(route, &config.name).into_diagnostic()?;
    }
    guard.close().into_diagnostic()?;
    let _awake = cli_types::awake(config.cpu_latency)?;
    let refused = prefer_this_thread().err();
    drop_rights()?;

    let mut daemon = Daemon {
        sounder: Sounder::new(config.told()),
        instance,
        others: Others::new(config.interfaces, hardware),
        source: device,
        receiving,
        hearing,
        published: HostInstant::default(),
        opened: monotonic_now(),
        retry: Retry::new(monotonic_now()),
        warned_mute: false,
        beaten: None,
        sleep: Sleep::default(),
        posts,
        events,
        supervisor,
    };
    // Attach the devices before `ready`, so that a supervisor that stops us immediately sees a complete state.
    daemon.attend_devices(monotonic_now());
    daemon.events.ready(&config.name, &daemon.source);
    daemon.supervisor.ready();
    if let Some(refused) = refused {
        // A heartbeat that waits behind a build sends all flows to BBR.
        daemon.events.no_priority(&refused);
    }
    let mut live = Live::new(port, wanted).remembering(&daemon.source);
    let served = daemon.serve(&mut live, &stop);
    daemon.supervisor.stopping();
    // Masks go back also where the port fails.
    let outcome = served.and(daemon.put_back(&mut live));
    let Daemon { sounder, instance, others, receiving, hearing, events, supervisor, .. } = daemon;
    drop(others);
    // The programs first, then what points to them by name; last words wait for their reader, so they come last.
    drop(receiving);
    let disbelieved = hearing.map(Hearing::end);
    drop(instance);
    drop((guard, supervisor));
    events.done(&sounder.counts(), live.switched_off(), disbelieved);
    outcome.map(|()| ExitCode::SUCCESS)
}

fn load(config: &sounding_bpf::Config) -> Result<Instance> {
    Instance::load(config).map_err(|error| {
        let cure = error.cure();
        miette!(help = cure, "{error}")
    })
}

fn open(source: &Source) -> Result<Box<dyn Transport>> {
    match source.place() {
        // A capture would be over before the first flow began.
        Source::Path(path) if path.is_file() => Err(OpenError::File { path: path.clone() }),
        _ => {
            refuse_held(source)?;
            source.open()
        }
    }
    .into_diagnostic()
    .wrap_err("the modem's Diag port does not open")
}

struct Daemon {
    sounder: Sounder,
    instance: Instance,
    others: Others,
    source: Source,
    /// The other direction, if senders are limited.
    receiving: Option<Receiving>,
    /// Devices that this machine sends to, if their reports are used.
    hearing: Option<Hearing>,
    published: HostInstant,
    opened: HostInstant,
    retry: Retry,
    warned_mute: bool,
    /// When the last heartbeat was.
    beaten: Option<HostInstant>,
    sleep: Sleep,
    posts: Option<Posts>,
    events: Events,
    supervisor: Supervisor,
}

impl Daemon {
    /// Reads the port until `stop`; a port that closes is waited for.
    fn serve(&mut self, live: &mut Live, stop: &AtomicBool) -> Result<()> {
        let mut reopening = None;
        let mut buffer = vec![0; READ_SIZE];
        while !stop.load(Ordering::Relaxed) {
            if live.is_open() {
                if self.read(live, &mut buffer)? == Read::Closed {
                    self.sounder.handle_disconnect();
                    self.feed().invalidate();
                    if let Some(receiving) = &mut self.receiving {
                        receiving.handle_disconnect();
                    }
                    let wait = self.retry.handle_closed(monotonic_now());
                    self.events.closed(&self.source, wait);
                    if self.source.may_return() {
                        let again = Reopening::start(self.source.clone(), wait);
                        reopening = Some(again.into_diagnostic()?);
                    }
                }
            } else {
                std::thread::sleep(TICK);
                if let Some(transport) = reopening.as_ref().and_then(Reopening::poll) {
                    reopening = None;
                    live.reopen(transport);
                    self.opened = monotonic_now();
                    self.retry.handle_opened(self.opened);
                    self.warned_mute = false;
                    self.events.reopened(&self.source);
                }
            }
            self.attend(live);
        }
        Ok(())
    }

    /// Gives the modem its masks back, while everything goes on.
    fn put_back(&mut self, live: &mut Live) -> Result<()> {
        let begin = monotonic_now();
        live.handle_end(begin);
        let mut buffer = vec![0; READ_SIZE];
        while !live.is_over() && monotonic_now() - begin < PUT_BACK {
            self.read(live, &mut buffer)?;
            self.attend(live);
        }
        Ok(())
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self, live: &mut Live, buffer: &mut [u8]) -> Result<Read> {
        let read = live.read(buffer, TICK).into_diagnostic()?;
        if let Read::Bytes(count) = read {
            let now = monotonic_now();
            let (framing, posts) = (live.framing(), &mut self.posts);
            let watch = |_: &Sounder, seen: Seen<'_>| match seen {
                Seen::Record(record) => {
                    live.handle_log(now, record);
                    if let Some(posts) = posts.as_mut() {
                        posts.handle(now, record);
                    }
                }
                Seen::Other { command, body } => live.handle_other(now, command, body),
                Seen::Next(_) | Seen::Kpi(_) => {}
            };
            let (arrival, bytes) = (Arrival::At(now), &buffer[..count]);
            match framing {
                Framing::Hdlc => self.sounder.handle_bytes(arrival, bytes, watch),
                Framing::Packet => self.sounder.handle_payload(arrival, bytes, watch),
            }
            if let Some(receiving) = &mut self.receiving {
                receiving.handle_bytes(now, framing, bytes);
            }
            if let Some(posts) = &mut self.posts {
                posts.post(monotonic_now());
            }
        }
        Ok(read)
    }

    fn attend_devices(&mut self, now: HostInstant) {
        let Self { others, instance, receiving, events, .. } = self;
        others.attend(now, instance, receiving.as_mut(), events);
    }

    /// What is due whether bytes came or not.
    fn attend(&mut self, live: &mut Live) {
        let now = monotonic_now();
        live.tick(now);
        if let Some(slept) = self.sleep.look() {
            self.sounder.handle_disconnect();
            self.feed().invalidate();
            if let Some(receiving) = &mut self.receiving {
                receiving.handle_disconnect();
            }
            self.events.slept(slept);
        }
        self.beat(now);
        self.publish(now);
        if let Some(receiving) = &mut self.receiving {
            receiving.attend(now, &mut self.events);
        }
        self.attend_devices(now);
        while let Some(event) = live.poll_event() {
            self.events.session(&event);
        }
        while let Some(transition) = self.instance.poll_transition() {
            self.events.transition(&transition);
        }
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, &mut self.events);
        }
        self.warn_if_mute(now);
    }

    fn beat(&mut self, now: HostInstant) {
        self.feed().heartbeat(now);
        self.supervisor.beat(now);
        if let Some(posts) = &mut self.posts {
            posts.heartbeat(now);
        }
        let gap = self.beaten.replace(now).map_or(Duration::ZERO, |before| now - before);
        if gap > LATE {
            self.events.late(now, gap);
        }
    }

    fn feed(&self) -> &Feed {
        self.instance.feed()
    }

    fn publish(&mut self, now: HostInstant) {
        if now - self.published < PUBLISH_EVERY {
            return;
        }
        self.published = now;
        let estimate = self.sounder.estimate(now);
        publish(self.feed(), &estimate, now);
        self.events.estimate(now, &estimate);
    }

    fn warn_if_mute(&mut self, now: HostInstant) {
        let stream = self.sounder.counts().stream;
        if self.warned_mute || stream.frames.good > 0 || now - self.opened < MUTE_AFTER {
            return;
        }
        self.warned_mute = true;
        self.events.mute(&self.source, stream.frames.bytes);
    }
}

/// The estimate for flows of this machine.
fn publish(feed: &Feed, estimate: &LinkEstimate, now: HostInstant) {
    let why = match estimate.state {
        State::Idle => Lull::Idle,
        State::Handover => Lull::Handover,
        _ => Lull::Unknown,
    };
    if !estimate.is_usable() {
        feed.withdraw(why);
        return;
    }
    feed.publish(&sounding_bpf::FeedEstimate {
        rate: estimate.rate,
        sampled_at: now.saturating_before(estimate.age),
        bound: match estimate.bound {
            sounding_link::Bound::Capacity => sounding_bpf::Bound::Capacity,
            sounding_link::Bound::Floor => sounding_bpf::Bound::Floor,
        },
        other_flows: 0,
    });
}
