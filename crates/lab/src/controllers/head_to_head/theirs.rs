//! Their programs through the emulator.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use sounding_emu::{Config, Direction, Emulation, Netns, Outcome, PacketRecord};

use super::Link;
use super::measure::{DATA, Passage, Side};
use super::peer::{Call, End, Ends, Input, Peer};
use crate::experiment::Failed;

/// Time between the start of the waiting end and that of the other.
const READY: Duration = Duration::from_millis(300);
/// Until the sender's first packet, and after the last that is measured.
const SLACK: Duration = Duration::from_secs(2);

/// Runs a peer once.
pub(super) fn run(
    peer: &Peer,
    folder: &Path,
    link: &Link,
    duration: Duration,
) -> Result<Side, Failed> {
    // Some of them write logs into the current folder.
    let scratch = tempfile::tempdir().map_err(|error| cannot_run(peer, folder, error))?;
    let config = Config { record: true, ..Config::new(link.up(), Link::down()) };
    let emulation = Emulation::start(config)?;
    let ends = Ends {
        folder: folder.into(),
        near: emulation.near_address(),
        far: emulation.far_address(),
        duration: duration + SLACK,
    };
    let start = |end: End| {
        let (netns, call) = match end {
            End::Near => (emulation.near(), (peer.sender)(&ends)),
            End::Far => (emulation.far(), (peer.receiver)(&ends)),
        };
        spawn(peer, netns, &call, scratch.path())
    };
    let first = Running(start(peer.waits)?);
    std::thread::sleep(READY);
    let second = Running(start(peer.waits.other())?);
    std::thread::sleep(duration + SLACK);
    drop((second, first));
    let report = emulation.stop()?;
    if report.has_foreign_loss() {
        tracing::warn!(
            peer = peer.name,
            "packets were lost outside the emulated queue: {report:?}"
        );
    }
    let passages: Vec<Passage> = report.records.iter().filter_map(passage).collect();
    Side::of(&passages, report.started, duration)
        .ok_or_else(|| format!("{} over {}: no data packet was delivered; run its programs by hand through `sounding emu` to see what they say", peer.name, link.name).into())
}

fn cannot_run(peer: &Peer, program: &Path, error: io::Error) -> Failed {
    let (program, peer) = (program.display(), peer.name);
    format!("cannot run {program}: {error}; --{peer} names the folder of the programs").into()
}

fn passage(record: &PacketRecord) -> Option<Passage> {
    let Outcome::Delivered { joined, left, written, .. } = record.outcome else { return None };
    let is_data = record.direction == Direction::Uplink && record.size >= DATA;
    is_data.then_some(Passage {
        entered: record.entered,
        joined,
        left,
        arrived: written,
        size: record.size,
    })
}

/// A program that is ended with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(peer: &Peer, netns: &Netns, call: &Call, scratch: &Path) -> Result<Child, Failed> {
    let fail = |error| cannot_run(peer, &call.program, error);
    // The shell that starts it would report that only where it is not seen.
    let program = call.program.canonicalize().map_err(fail)?;
    let mut command = netns.command(program);
    command.args(&call.arguments).current_dir(scratch);
    command.envs(call.environment.iter().cloned());
    command.stdin(match call.input {
        Input::Nothing => Stdio::null(),
        Input::Zeros => File::open("/dev/zero").map_err(fail)?.into(),
        Input::Open => Stdio::piped(),
    });
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(fail)
}
