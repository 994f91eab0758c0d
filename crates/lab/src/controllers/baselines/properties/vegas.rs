//! Vegas: two to four segments in the queue.

use super::{ANY, NONE, Property, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Watch, millis};

const ALPHA_BETA: &str = "Linux tcp_vegas: α 2, β 4 segments";

pub(super) const VEGAS: &[Property] = &[
    says("vegas", "window beyond path and packet, segments", ALPHA_BETA, [1.0, 4.0], "", |rig| {
        let watch = Watch { each: true, ..Watch::of("vegas", 5 * BDP, 40) };
        // 41 ms of path, the packet's own included.
        rig.watch_from(watch, 30).iter().map(|sample| sample.cwnd - 41.0).collect()
    }),
    says("vegas", "queue, least and most of packets", ALPHA_BETA, [1.0, 5.0], "ms", |rig| {
        let queues = [BDP, 10 * BDP].map(|buffer| rig.alone("vegas", MBIT, buffer));
        queues
            .iter()
            .flat_map(|report| [report.queueing.least(), report.queueing.most()])
            .map(millis)
            .collect()
    })
    .note("and the packet itself"),
    says("vegas", "link used", "two segments always wait", [0.99, 1.0], "", |rig| {
        [BDP, 10 * BDP].map(|buffer| rig.used("vegas", buffer)).to_vec()
    }),
    says(
        "vegas",
        "queue in slow start, most",
        "Linux tcp_vegas: γ 1 segment",
        [NONE, 40.0],
        "ms",
        |rig| vec![rig.worst_queue("vegas", 10 * BDP, 10)],
    ),
    says(
        "vegas",
        "two flows share (Jain)",
        "each keeps as much in the queue",
        [0.95, 1.0],
        "",
        |rig| vec![rig.rivals(&["vegas", "vegas"], 5 * BDP, 60, 60).jain()],
    ),
    says("vegas", "queue of two, mean", ALPHA_BETA, [4.0, 9.0], "ms", |rig| {
        vec![rig.rivals(&["vegas", "vegas"], 5 * BDP, 60, 60).queueing_ms]
    })
    .note("two to four of each"),
    says("vegas", "CUBIC's share beside it", "goes by delay alone", [0.85, ANY], "", |rig| {
        vec![rig.rivals(&["cubic", "vegas"], 5 * BDP, 60, 60).share_of_first()]
    }),
];
