//! One run: a case under a rule with a seed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sounding_emu::monotonic_now;
use sounding_kpi::Direction;
use sounding_shape::{Limits, cake_interval};
use sounding_testbed::cpu::Busy;
use sounding_testbed::flow::{TcpResult, UdpResult};
use sounding_testbed::router::{INGRESS, Probe, Probed, Router, WAN};
use sounding_testbed::uml::{Image, Running, Tc};
use sounding_units::{HostInstant, Rate};

use super::case::{LEAD, Load};
use super::decisions::GuestClock;
use super::job::Job;
use super::load::Done;
use super::ran::{Figures, Line, Ran, Series, Spread};
use super::rule::Rule;
use super::truth::{STEP, Truth, rate};
use super::{autorate, decisions, load, naive};
use crate::experiment::Failed;

/// Interval of looks at CAKE, and of points of a series.
const LOOK: Duration = Duration::from_millis(100);

/// The rate downwards in a case without downloads, for rules that are a fixed rate or the truth.
const FREE: Rate = Rate::from_bits_per_sec(400_000_000);

/// CAKE's own interval (tc-cake(8): `rtt`).
const USUAL: Duration = Duration::from_millis(100);

/// Probes: a hundred a second, of the size of pings.
const PROBE: Probe = Probe { every: Duration::from_millis(10), size: 36 };

/// What all runs of a matrix have in common.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) image: Image,
    /// This program, which the guest runs too.
    pub(super) program: PathBuf,
    /// A checkout of cake-autorate.
    pub(super) autorate: Option<PathBuf>,
    /// What its tuned configuration changes.
    pub(super) tuned: String,
    /// How long there is load.
    pub(super) lasts: Duration,
    /// CAKE's interval under every rule, if one is named.
    pub(super) interval: Option<Duration>,
}

impl Setting {
    /// CAKE's interval in the uplink under a rule.
    pub(super) fn interval(&self, rule: Rule) -> Duration {
        let usual = if rule == Rule::Ours { cake_interval(Direction::Uplink) } else { USUAL };
        self.interval.unwrap_or(usual)
    }
}

/// A sample of CAKE.
struct Looked {
    at: HostInstant,
    up: Option<sounding_testbed::uml::Shaper>,
    down: Option<sounding_testbed::uml::Shaper>,
}

/// Makes a run.
pub(super) fn run(
    setting: &Setting,
    Job { case, rat, rule, seed }: Job,
    limits: [Limits; 2],
    stop: &AtomicBool,
) -> Result<Ran, Failed> {
    let (began, busy) = (Instant::now(), Busy::begin()?);
    let plan = case.run(rat, setting.lasts, seed, case.load.ways())?;
    let truth = |way| Truth::of((*case, rat), setting.lasts, seed, way);
    let fetched = match case.load.ways() {
        [_, down, ..] => Some(truth(*down)?),
        _ => None,
    };
    let truth = truth(Direction::Uplink)?;
    let fetched = fetched.as_ref();
    let router = Router::start(&plan, &setting.image, case.answers_pings)?;
    let [up, down] = limits.map(Limits::base);
    if let Some(up) = first_rate(rule, Some(&truth), up) {
        let down = first_rate(rule, fetched, down).unwrap_or(FREE);
        router.shape([(up, setting.interval(rule)), (down, setting.interval.unwrap_or(USUAL))])?;
    }
    let clock = GuestClock::ask(&router)?;
    let program = start_program(setting, rule, limits, &router)?;
    let origin = router.started();
    let span = [origin + LEAD, origin + LEAD + setting.lasts];
    let over = AtomicBool::new(false);
    let (done, probes, looked) = thread::scope(|scope| {
        let end = End(&over);
        let feeder = thread::Builder::new().spawn_scoped(scope, || match rule {
            Rule::Naive => naive::follow(&router, limits, &over),
            _ => feed(&router, rule, [Some(&truth), fetched].into_iter().zip(limits), &over),
        })?;
        let watcher = thread::Builder::new().spawn_scoped(scope, || watch(&router, rule, &over))?;
        let probing = PROBE.start(router.ends(2));
        let done = load::run(case.load, &router, span, stop);
        let probes = probing.and_then(sounding_testbed::router::Probing::stop);
        drop(end);
        let fed = feeder.join().unwrap_or_else(|_| Err("the feeder broke off".into()));
        let looked = watcher.join().unwrap_or_else(|_| Err("the watcher broke off".into()));
        fed?;
        Ok::<_, Failed>((done?, probes?, looked?))
    })?;
    let has_ended = program.as_ref().is_some_and(|program| !program.is_running());
    let mut log = program.map_or(Ok(String::new()), Running::stop)?;
    if has_ended {
        return Err(
            format!("the program of {} ended too soon: {}", rule.name(), last_lines(&log)).into()
        );
    }
    let mut autorate = None;
    if rule.needs_autorate() {
        let load = SystemTime::now() - (monotonic_now() - span[0]);
        let (counts, text) = autorate::log(&router, load)?;
        (autorate, log) = (Some(counts), text);
    }
    let guest = router.guest().cpu().unwrap_or_default();
    let ended = router.stop()?;
    let (_, busy) = busy.end()?;
    let times = Times { origin, span };
    let measured = times.measured(case.load).map(|at| at - origin);
    Ok(Ran {
        case: case.name.into(),
        rat,
        rule,
        seed,
        load_s: setting.lasts.as_secs_f64(),
        interval_s: setting.interval(rule).as_secs_f64(),
        took_s: began.elapsed().as_secs_f64(),
        busy_s: busy.as_secs_f64(),
        times_behind: ended.report.pace.times_behind,
        figures: Figures {
            truth_mbit_per_sec: truth.mean_between(measured),
            truth_down_mbit_per_sec: fetched.map(|truth| truth.mean_between(measured)),
            ..figures(case.load, &times, &done, &probes, &looked)
        },
        guest_s: guest.as_secs_f64(),
        autorate,
        log: last_lines(&log),
        series: Series {
            reasons: decisions::held(&log, clock, origin, span[1]),
            ..series(&times, &truth, &done, &probes, &looked)
        },
    })
}

/// Ends the threads of a run when it is dropped, also after an error.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The end of a log.
fn last_lines(log: &str) -> String {
    const KEPT: usize = 20;
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(KEPT)..].join("\n")
}

/// CAKE's rate at the beginning, for a direction with this truth; none without CAKE, and where
/// nothing says the rate of a direction without load.
fn first_rate(rule: Rule, truth: Option<&Truth>, base: Rate) -> Option<Rate> {
    match rule {
        Rule::None => None,
        Rule::FixedP10 => truth.map(|truth| rate(truth.quantile(0.1))),
        Rule::FixedP50 => truth.map(|truth| rate(truth.quantile(0.5))),
        Rule::FixedMean => truth.map(|truth| rate(truth.mean())),
        Rule::Truth0 | Rule::Truth50 => truth.map(|_| base),
        Rule::Autorate | Rule::AutorateTuned | Rule::Ours | Rule::Naive => Some(base),
    }
}

/// Starts the program in the router that sets the rate, if the rule has one.
fn start_program<'a>(
    setting: &Setting,
    rule: Rule,
    limits: [Limits; 2],
    router: &'a Router,
) -> Result<Option<Running<'a>>, Failed> {
    if rule.needs_autorate() {
        let checkout = setting.autorate.as_ref().ok_or("no checkout of cake-autorate")?;
        let changed = if rule == Rule::AutorateTuned { setting.tuned.as_str() } else { "" };
        return Ok(Some(autorate::start(router, checkout, limits, changed)?));
    }
    if rule != Rule::Ours {
        return Ok(None);
    }
    let (program, modem) = (setting.program.display(), router.modem());
    let mut command = format!(
        "'{program}' shape --json --device {modem} --interface {WAN} --downlink-device {INGRESS}"
    );
    for (way, limits) in ["uplink", "downlink"].into_iter().zip(limits) {
        for (name, rate) in limits.named() {
            command += &format!(" --{way}-{name} {}bit", rate.bits_per_sec());
        }
    }
    Ok(Some(router.guest().spawn(&command)?))
}

/// Sets CAKE to the truth, upwards and downwards, as long as the run lasts, where the rule says so.
fn feed<'a>(
    router: &Router,
    rule: Rule,
    truths: impl Iterator<Item = (Option<&'a Truth>, Limits)> + Clone,
    over: &AtomicBool,
) -> Result<(), Failed> {
    let Some(late) = rule.truth_after() else { return Ok(()) };
    let mut tc = Tc::open(router.guest())?;
    let mut next = monotonic_now();
    while !over.load(Ordering::Relaxed) {
        let time = (monotonic_now() - router.started()).saturating_sub(late);
        for ((truth, limits), device) in truths.clone().zip([WAN, INGRESS]) {
            if let Some(mbit) = truth.and_then(|truth| truth.at(time)) {
                tc.set(device, limits.clamp(rate(mbit)))?;
            }
        }
        next = next + STEP;
        thread::sleep(next - monotonic_now());
    }
    Ok(())
}

/// Looks at CAKE as long as the run lasts.
fn watch(router: &Router, rule: Rule, over: &AtomicBool) -> Result<Vec<Looked>, Failed> {
    let mut looked = Vec::new();
    if rule == Rule::None {
        return Ok(looked);
    }
    let mut tc = Tc::open(router.guest())?;
    let mut next = monotonic_now();
    while !over.load(Ordering::Relaxed) {
        let (up, down) = (tc.look(WAN)?, tc.look(INGRESS)?);
        looked.push(Looked { at: monotonic_now(), up, down });
        next = next + LOOK;
        thread::sleep(next - monotonic_now());
    }
    Ok(looked)
}

/// The network's start, and the beginning and end of the load.
struct Times {
    origin: HostInstant,
    span: [HostInstant; 2],
}

impl Times {
    fn seconds(&self, at: HostInstant) -> f64 {
        (at - self.origin).as_secs_f64()
    }

    /// The part of the load that figures are of.
    fn measured(&self, load: Load) -> [HostInstant; 2] {
        let [from, until] = self.span;
        [from + load.idle(until - from), until]
    }

    /// Times of points of a series.
    fn points(&self) -> impl Iterator<Item = HostInstant> {
        let [_, until] = self.span;
        let count = ((until - self.origin).as_nanos() / LOOK.as_nanos()) as u32;
        (0..count).map(|number| self.origin + LOOK * number)
    }
}

/// Acknowledged IP bytes of an upload between two times, in Mbit/s.
fn acknowledged(result: &TcpResult, from: HostInstant, to: HostInstant) -> f64 {
    // Headers are a part of what the cell carried.
    const WITH_HEADERS: f64 = 1500.0 / 1448.0;
    let acked = |time| {
        let before = result.samples.iter().take_while(|sample| sample.at <= time).last();
        before.map_or(0, |sample| sample.info.acked.count())
    };
    (acked(to) - acked(from)) as f64 * WITH_HEADERS * 8e-6 / (to - from).as_secs_f64()
}

fn figures(
    load: Load,
    times: &Times,
    done: &Done,
    probes: &[Probed],
    looked: &[Looked],
) -> Figures {
    let [from, until] = times.measured(load);
    let rate = |flows: &[TcpResult]| flows.iter().map(|flow| acknowledged(flow, from, until)).sum();
    let within = |at: HostInstant| at >= from && at < until;
    let sent: Vec<&Probed> = probes.iter().filter(|probe| within(probe.sent)).collect();
    let trips: Vec<Duration> = sent.iter().filter_map(|probe| probe.round_trip).collect();
    let lost = sent.len() - trips.len();
    let samples = done.uploads.iter().flat_map(|flow| &flow.samples);
    let rtts = samples.filter(|sample| within(sample.at) && !sample.info.rtt.is_zero());
    let call = done.call.as_ref();
    let delays = |way: &UdpResult| Spread::of(way.one_way());
    let call_lost = |ways: &[UdpResult; 2]| {
        let sent: u64 = ways.iter().map(|way| way.sent).sum();
        let received: u64 = ways.iter().map(|way| way.received).sum();
        100.0 * sent.saturating_sub(received) as f64 / sent.max(1) as f64
    };
    let mut rates: Vec<u64> =
        looked.iter().filter_map(|look| Some(look.up?.rate?.bits_per_sec())).collect();
    rates.sort_unstable();
    rates.dedup();
    Figures {
        up_mbit_per_sec: rate(&done.uploads),
        down_mbit_per_sec: (!done.downloads.is_empty()).then(|| rate(&done.downloads)),
        probes_lost_percent: 100.0 * lost as f64 / sent.len().max(1) as f64,
        probe: Spread::of(trips),
        probe_up: Spread::of(sent.iter().filter_map(|probe| probe.outward).collect()),
        bulk_rtt: Spread::of(rtts.map(|sample| sample.info.rtt).collect()),
        call_up: call.and_then(|[up, _]| delays(up)),
        call_down: call.and_then(|[_, down]| delays(down)),
        call_lost_percent: call.map(call_lost),
        pages: done.pages.clone().and_then(Spread::of),
        pages_open: done.pages.as_ref().map(|_| done.pages_open),
        rates_seen: rates.len() as u64,
        ..Figures::default()
    }
}

fn series(
    times: &Times,
    truth: &Truth,
    done: &Done,
    probes: &[Probed],
    looked: &[Looked],
) -> Series {
    let points = |value: &dyn Fn(HostInstant) -> Option<f64>| -> Line {
        times.points().map(|at| (times.seconds(at), value(at))).collect()
    };
    let mbit = |rate: Option<Rate>| rate.map(Rate::mbit_per_sec);
    let seen = |value: &dyn Fn(&Looked) -> Option<f64>| -> Line {
        looked.iter().map(|look| (times.seconds(look.at), value(look))).collect()
    };
    let uploads = || done.uploads.iter();
    let slowest = |at: HostInstant| {
        let of = probes.iter().filter(|probe| probe.sent >= at && probe.sent < at + LOOK);
        of.filter_map(|probe| probe.round_trip).max().map(|trip| trip.as_secs_f64() * 1e3)
    };
    let longest = |at: HostInstant| {
        let of = uploads().flat_map(|flow| &flow.samples);
        let of = of.filter(|sample| sample.at >= at && sample.at < at + LOOK);
        of.map(|sample| sample.info.rtt).max().map(|rtt| rtt.as_secs_f64() * 1e3)
    };
    Series {
        truth_mbit: points(&|at| truth.at(at - times.origin)),
        set_mbit: seen(&|look| mbit(look.up?.rate)),
        set_down_mbit: seen(&|look| mbit(look.down?.rate)),
        backlog_kbyte: seen(&|look| Some(look.up?.backlog.count() as f64 / 1e3)),
        sent_mbit: points(&|at| {
            Some(uploads().map(|flow| acknowledged(flow, at, at + LOOK)).sum())
        }),
        probe_ms: points(&slowest),
        bulk_rtt_ms: points(&longest),
        reasons: Vec::new(),
    }
}
