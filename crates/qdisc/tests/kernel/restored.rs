use sounding_estimate::Direction;
use sounding_qdisc::Shaper;
use sounding_testdata::{Need, skip};

use crate::{Cable, mbit};

/// Roots that users choose. Each comes back to the letter.
const ROOTS: [&str; 13] = [
    "pfifo limit 77",
    "bfifo limit 7777",
    "pfifo_fast",
    "noqueue",
    "tbf rate 3mbit burst 12k latency 40ms",
    "tbf rate 3mbit burst 12k latency 40ms peakrate 5mbit minburst 1600",
    "stab overhead -14 linklayer ethernet pfifo limit 5",
    "codel limit 500 target 7ms interval 90ms ecn",
    "fq_codel",
    "fq_codel limit 999 flows 512 target 7ms interval 123ms quantum 300 ce_threshold 3ms noecn",
    "cake bandwidth 20mbit besteffort overhead 44 atm rtt 50ms nat wash ack-filter memlimit 4mb",
    "cake unlimited raw dual-srchost ingress split-gso fwmark 0xf0",
    "cake bandwidth 1gbit autorate-ingress",
];

#[test]
fn a_root_qdisc_is_rebuilt_to_the_letter() {
    let Some(cable) = Cable::new() else { return };
    let mut rebuilt = 0;
    for root in ROOTS {
        let (stab, kind) =
            root.split_once(" pfifo").map_or(("", root), |(stab, _)| (stab, "pfifo"));
        let kind = kind.strip_prefix(stab).unwrap_or(kind);
        let words = root.strip_prefix("stab").map_or_else(
            || format!("tc qdisc add dev v0 root handle 7: {root}"),
            |rest| format!("tc qdisc add dev v0 root handle 7: stab{rest}"),
        );
        let mut words = words.split(' ');
        let run =
            || std::process::Command::new(words.next().unwrap()).args(words).output().unwrap();
        let output = cable.here.enter(run).unwrap();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("kind is unknown"), "{root}: {said}");
            skip(Need::Cake, format_args!("this kernel has no {kind}, so it is not rebuilt"));
            continue;
        }
        let before = cable.text();
        for times in 0..2 {
            cable.enter(|tc| {
                let shaper = Shaper::build(tc, Direction::Uplink, "v0", None, mbit(5)).unwrap();
                assert_ne!(cable.text(), before);
                shaper.restore(tc).unwrap();
            });
            assert_eq!(cable.text(), before, "{root}, {times}");
        }
        cable.run("tc qdisc del dev v0 root");
        rebuilt += 1;
    }
    assert!(rebuilt >= 7, "{rebuilt}");
}
