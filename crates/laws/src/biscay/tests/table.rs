//! One flow through a bad day, as a table: a change of the law's behaviour is a readable diff here.

use std::format;
use std::string::String;

use super::super::*;
use super::path::{Drive, World};

fn name(state: State) -> &'static str {
    match state {
        State::RadioLimited { ramp: Some(_), .. } => "radio-limited, restarting",
        State::RadioLimited { after: Cleared::Wide, .. } => "radio-limited again",
        State::NoEstimate(Some(FallbackReason::Absent)) => "no-estimate: absent",
        State::NoEstimate(Some(FallbackReason::Stale)) => "no-estimate: stale",
        State::NoEstimate(Some(FallbackReason::Silent)) => "no-estimate: silent",
        State::NoEstimate(Some(FallbackReason::Absurd)) => "no-estimate: absurd",
        other => other.phase().name(),
    }
}

/// A scene: its caption, its half seconds, and the change at its start.
type Scene = (&'static str, u64, fn(&mut Drive));

const DAY: [Scene; 10] = [
    ("connects at 30 Mbit/s", 3, |_| {}),
    ("radio falls to 6", 2, |drive| drive.world.radio = 6_000),
    ("radio rises to 50", 2, |drive| drive.world.radio = 50_000),
    ("wire falls to 12", 4, |drive| drive.world.wire = 12_000),
    ("wire recovers", 4, |drive| drive.world.wire = 1_000_000),
    ("daemon dies", 2, |drive| drive.world.feed_lives = false),
    ("daemon returns", 1, |drive| drive.world.feed_lives = true),
    ("a second flow", 2, |drive| drive.world.flows = 2),
    ("a timeout", 1, |drive| drive.timeout = Timeout::Fired),
    ("estimate thrice too high", 4, |drive| drive.world.told_permille = 3_000),
];

#[test]
fn a_bad_day() {
    let mut drive = Drive::new(World::default());
    let mut table = String::from("time  Mbit/s   queue  window  state\n");
    let mut half_seconds = 0;
    for (scene, span, change) in DAY {
        change(&mut drive);
        for slice in 0..span {
            half_seconds += 1;
            let tenths = drive.run_ms(500);
            let row = format!(
                "{:>2}.{}  {:>4}.{}  {:>3} ms  {:>6}  {:<22}{}",
                half_seconds / 2,
                half_seconds % 2 * 5,
                tenths / 10,
                tenths % 10,
                drive.queue_ms(),
                drive.command().cwnd,
                name(drive.flow.state()),
                if slice == 0 { scene } else { "" },
            );
            table.push_str(row.trim_end());
            table.push('\n');
        }
    }
    insta::assert_snapshot!(table, @r"
    time  Mbit/s   queue  window  state
     0.5    23.4    0 ms     156  radio-limited         connects at 30 Mbit/s
     1.0    29.7    0 ms     156  radio-limited
     1.5    29.6    0 ms     156  radio-limited
     2.0     8.4   20 ms      36  radio-limited         radio falls to 6
     2.5     6.0   14 ms      36  radio-limited
     3.0    40.9    0 ms     262  radio-limited         radio rises to 50
     3.5    49.4    0 ms     262  radio-limited
     4.0    15.7  211 ms     262  radio-limited         wire falls to 12
     4.5    12.0  145 ms     196  radio-limited
     5.0    12.0   55 ms     106  bottleneck-elsewhere
     5.5    12.0   55 ms     106  bottleneck-elsewhere
     6.0    31.6    6 ms     415  bottleneck-elsewhere  wire recovers
     6.5    49.9    9 ms     262  radio-limited again
     7.0    49.9    4 ms     262  radio-limited again
     7.5    50.0    0 ms     262  radio-limited again
     8.0    49.9   51 ms     426  no-estimate: silent   daemon dies
     8.5    50.0   51 ms     426  no-estimate: silent
     9.0    49.9    8 ms     262  radio-limited         daemon returns
     9.5    26.8    0 ms     131  radio-limited         a second flow
    10.0    24.7    0 ms     131  radio-limited
    10.5    23.6    0 ms     131  radio-limited         a timeout
    11.0    46.9   43 ms     393  radio-limited         estimate thrice too high
    11.5    49.9   50 ms     424  bottleneck-elsewhere
    12.0    50.0   50 ms     424  bottleneck-elsewhere
    12.5    49.9   50 ms     422  bottleneck-elsewhere
    ");
}
