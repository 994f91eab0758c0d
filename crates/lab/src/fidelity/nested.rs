//! Emulators inside one another: the round trip of two delays, and the bytes of a trace behind a
//! delay, beside the emulators' own lateness.

mod experiment;
mod inside;

use std::fmt;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value as Json;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::files;

use crate::experiment::Failed;

pub(crate) use experiment::NestedExperiment;
use inside::{PACKET, Role};

/// One way, of the outer and of the inner emulator.
const DELAYS: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(5)];

/// A trace of one packet a millisecond, 12 Mbit/s.
const TRACE: &str = "1\n";
const TRACE_BITS_PER_SEC: f64 = 12e6;

/// The sum of delays and the trace are met within these. Chosen: a millisecond is the step of
/// mahimahi's own clock, and one percent is ten packets a second.
const TRIP_ALLOWANCE_MS: f64 = 1.0;
const RATE_ALLOWANCE: f64 = 0.01;

/// The time after the first packet that is not measured.
const SETTLING: Duration = Duration::from_millis(500);

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Nested {
    /// Where it comes from.
    pub provenance: Provenance,
    /// Round trips that were measured.
    pub trips: usize,
    /// Their median, in milliseconds.
    pub median_ms: f64,
    /// Twice the sum of both delays, in milliseconds.
    pub sum_ms: f64,
    /// What the trace carried over its own rate.
    pub carried_share: f64,
    /// Lateness of each emulator in both runs.
    pub lateness: Vec<Lateness>,
}

/// How late an emulator's packets were, in microseconds, in the worse direction.
#[derive(Clone, Debug, Serialize)]
pub struct Lateness {
    /// Which emulator.
    pub name: &'static str,
    /// Median.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
}

impl Nested {
    /// Whether both figures are as they should be.
    pub fn holds(&self) -> bool {
        (self.median_ms - self.sum_ms).abs() <= TRIP_ALLOWANCE_MS
            && (self.carried_share - 1.0).abs() <= RATE_ALLOWANCE
    }
}

/// Measures with this program for so long each time.
pub(crate) fn run(program: &Path, lasts: Duration) -> Result<Nested, Failed> {
    let begun = Begun::now();
    let [outer, inner] = DELAYS.map(|delay| format!("--delay={}us", delay.as_micros()));
    let trips = trips(program, [&[&outer], &[&inner]], lasts)?;
    // The inner emulator reads it as the user who called sudo.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let folder = tempfile::Builder::new().permissions(readable).tempdir()?;
    let trace = folder.path().join("trace");
    files::write_unsynced(&trace, TRACE.as_bytes())?;
    let [up, down] = ["up", "down"].map(|way| format!("--{way}={}", trace.display()));
    let queue = "--up-queue=droptail:packets=100";
    let carried = carried(program, [&[&outer], &[&up, &down, queue]], lasts)?;
    let lateness = [trips.lateness, carried.lateness].concat();
    let mut times = trips.value;
    times.sort_by(f64::total_cmp);
    let median_ms =
        *times.get(times.len() / 2).ok_or_else(|| Failed::from("no echo was answered"))?;
    Ok(Nested {
        provenance: begun.end(),
        trips: times.len(),
        median_ms,
        sum_ms: 2e3 * DELAYS.iter().map(Duration::as_secs_f64).sum::<f64>(),
        carried_share: carried.value,
        lateness,
    })
}

struct Measured<T> {
    value: T,
    lateness: Vec<Lateness>,
}

/// Round trips in milliseconds, from the command to this machine.
fn trips(
    program: &Path,
    links: [&[&str]; 2],
    lasts: Duration,
) -> Result<Measured<Vec<f64>>, Failed> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let role = Role::Echo { port: socket.local_addr()?.port(), lasts };
    let output = beside(
        &socket,
        |bytes, from| drop(socket.send_to(bytes, from)),
        || emulate(program, links, &role),
    )?;
    let [times, inner, outer] = &output[..] else { return Err(incomplete()) };
    let times = times.as_array().into_iter().flatten().filter_map(Json::as_f64).collect();
    let names = ["outer, of the delays", "inner, of the delays"];
    Ok(Measured { value: times, lateness: lateness(names, [outer, inner])? })
}

/// What reached this machine, as a share of what the trace carries.
fn carried(program: &Path, links: [&[&str]; 2], lasts: Duration) -> Result<Measured<f64>, Failed> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let role = Role::Send { port: socket.local_addr()?.port(), lasts };
    let mut arrivals = Vec::new();
    let note = |_: &[u8], _| arrivals.push(Instant::now());
    let output = beside(&socket, note, || emulate(program, links, &role))?;
    let [_, inner, outer] = &output[..] else { return Err(incomplete()) };
    let first = *arrivals.first().ok_or_else(|| Failed::from("no packet came through"))?;
    let measured: Vec<Instant> =
        arrivals.into_iter().filter(|at| *at >= first + SETTLING).collect();
    let [begun, .., end] = &measured[..] else { return Err("too few packets came through".into()) };
    let bits = 8.0 * PACKET as f64 * (measured.len() - 1) as f64;
    let share = bits / (*end - *begun).as_secs_f64() / TRACE_BITS_PER_SEC;
    let names = ["outer, of the trace", "inner, of the trace"];
    Ok(Measured { value: share, lateness: lateness(names, [outer, inner])? })
}

fn incomplete() -> Failed {
    "an emulator gave no report: run it by hand to see why".into()
}

/// Hands each datagram to `take` while `work` runs.
fn beside<T: Send>(
    socket: &UdpSocket,
    mut take: impl FnMut(&[u8], std::net::SocketAddr) + Send,
    work: impl FnOnce() -> Result<T, Failed>,
) -> Result<T, Failed> {
    socket.set_read_timeout(Some(Duration::from_millis(50)))?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = || {
            let mut bytes = [0; 2048];
            while !is_over.load(Ordering::Relaxed) {
                if let Ok((count, from)) = socket.recv_from(&mut bytes) {
                    take(&bytes[..count], from);
                }
            }
        };
        std::thread::Builder::new().spawn_scoped(scope, reading)?;
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

/// Runs one emulator in another, and this program's own probe in both. Gives the JSON values that
/// all of them print: of the probe, of the inner and of the outer emulator.
fn emulate(program: &Path, links: [&[&str]; 2], role: &Role) -> Result<Vec<Json>, Failed> {
    let [outer, inner] = links;
    let mut command = Command::new(program);
    command.arg("emu").args(outer).args(["--json=-", "--"]);
    command.arg(program).arg("emu").args(inner).args(["--json=-", "--"]);
    command.arg(program).args(["lab", "run", "nested", "--inside", &role.to_string()]);
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failed::at("the emulators inside one another", said.trim()));
    }
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    Ok(values.collect::<Result<_, _>>()?)
}

fn lateness(names: [&'static str; 2], reports: [&Json; 2]) -> Result<Vec<Lateness>, Failed> {
    let of = |(name, report): (&'static str, &Json)| {
        let worst = |quantile: &str| {
            let of = |way: &str| report[way]["lateness_us"][quantile].as_f64();
            Some(of("up")?.max(of("down")?))
        };
        let (p50, p99) = (worst("p50"), worst("p99"));
        p50.zip(p99).map(|(p50_us, p99_us)| Lateness { name, p50_us, p99_us })
    };
    names.into_iter().zip(reports).map(|pair| of(pair).ok_or_else(incomplete)).collect()
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trips, median_ms, sum_ms, carried_share, lateness, .. } = self;
        writeln!(
            f,
            "round trip: median {median_ms:.3} ms of {trips}, and the delays are {sum_ms:.3} ms"
        )?;
        writeln!(f, "carried: {:.2} % of the trace", 100.0 * carried_share)?;
        writeln!(f, "{:<24}{:>12}{:>12}", "late by, us", "p50", "p99")?;
        for Lateness { name, p50_us, p99_us } in lateness {
            writeln!(f, "{name:<24}{p50_us:>12.0}{p99_us:>12.0}")?;
        }
        let verdict = if self.holds() { "both are" } else { "not both are" };
        writeln!(f, "{verdict} within 1 ms of the delays and 1 % of the trace")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_lateness_of_the_worse_direction_counts() {
        let way = |p50: f64, p99: f64| json!({ "lateness_us": { "p50": p50, "p99": p99 } });
        let report = json!({ "up": way(10.0, 90.0), "down": way(20.0, 80.0) });
        let both = lateness(["a", "b"], [&report, &report]).expect("reports");
        assert_eq!((both[0].p50_us, both[0].p99_us, both[1].name), (20.0, 90.0, "b"));
        lateness(["a", "b"], [&report, &json!({})]).expect_err("no report");
    }
}
