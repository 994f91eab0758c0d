//! What the modem brings to an upload.

use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaFlows, CopaInstance};
use sounding_testbed::flow::RunningTcp;
use sounding_testdata::steadily;

use crate::rig::{Cell, figures, skipped, sleep, socket, state};

/// Megabits a second of an upload of twelve seconds without its first two, and what is kept of it.
fn upload(
    cell: &Cell,
    congestion: &str,
    state: impl Fn(&RunningTcp) -> Option<CopaFlow>,
) -> (f64, CopaFlow) {
    let flow = cell.upload(congestion);
    sleep(Duration::from_secs(12));
    let seen = state(&flow).unwrap();
    let result = flow.abort().unwrap();
    let (rate, rtt) = figures(&result, result.began + Duration::from_secs(2), result.ended);
    println!("{congestion}: {rate:.1} Mbit/s, {rtt:.1} ms, {seen:?}");
    (rate, seen)
}

#[test]
fn with_the_modem_an_upload_carries_more() {
    if skipped() {
        return;
    }
    steadily(|| {
        let cell = Cell::start();
        let alone = CopaInstance::load(&format!("ca_{}", std::process::id() % 1_000_000)).unwrap();
        let (name, daemon) = cell.daemon("cg", cell.modem(), &[]);
        let flows = CopaFlows::of(daemon.id()).unwrap();
        let (stock, seen) = upload(&cell, alone.name(), |flow| alone.flow(socket(flow)).unwrap());
        assert!(!seen.is_corrected && seen.switches == 0, "{seen:?}");
        let (corrected, seen) = upload(&cell, &name, |flow| state(&flows, flow));
        assert!(seen.is_corrected && seen.corrections > 1_000, "{seen:?}");
        assert!(corrected > 1.3 * stock, "{corrected:.1} beside {stock:.1} Mbit/s");
        daemon.stop();
        cell.stop();
    });
}
