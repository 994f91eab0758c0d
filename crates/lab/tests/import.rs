//! mahimahi's own logs, imported, give the figures that it was reported with.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

use std::time::Duration;

use sounding_experiment::import::{Import, Input, Question};
use sounding_lab::fidelity::mahimahi::Reference;
use sounding_units::Bytes;

#[test]
fn imported_logs_have_the_figures_of_the_reference() {
    let Some(path) = sounding_testdata::shared("reference/mahimahi_default_sndbuf.json") else {
        return;
    };
    let reference = Reference::read(&path).unwrap();
    // att-driving.down.bbr.default.r1.up.log.gz: trace, direction of data, algorithm, buffers,
    // repetition, link.
    let logs = sounding_testdata::shared_files("reference/mahimahi-logs");
    let parts = |path: &std::path::Path| -> Vec<String> {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.split('.').map(str::to_owned).collect()
    };
    let data: Vec<_> = logs.into_iter().filter(|path| parts(path)[1] == parts(path)[5]).collect();
    let inputs = data.iter().map(|path| {
        let parts = parts(path);
        Input { name: Some(parts[2].clone()), path: path.clone() }
    });
    let import = Import {
        inputs: inputs.collect(),
        // The reference left out what mm-link logs with less than 1000 bytes.
        question: Question { window: Some(Duration::from_secs(60)), least: Bytes::new(996) },
        series: Some(Duration::from_millis(500)),
        ..Import::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let imported = import.run(&out).unwrap();
    assert!(imported.bad.is_empty(), "{:?}", imported.bad);
    for (path, outcome) in data.iter().zip(&imported.finished.outcomes) {
        let parts = parts(path);
        let repetition: usize = parts[4][1..].parse().unwrap();
        assert_eq!(outcome.seed, repetition as u64, "{parts:?}");
        let theirs = reference.row(&parts[..3].join("."))[repetition - 1];
        let [flow] = &outcome.flows[..] else { panic!("{parts:?}") };
        assert_eq!((&flow.direction, &flow.controller), (&parts[1], &parts[2]));
        // Sums of the same numbers in another order differ in the last digits.
        let close = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 1e-9;
        assert!(close(flow.throughput_mbit_per_sec, theirs.throughput_mbit), "{parts:?}");
        assert!(close(flow.capacity_mbit_per_sec.unwrap(), theirs.capacity_mbit), "{parts:?}");
        assert!(close(flow.utilisation.unwrap(), theirs.utilisation), "{parts:?}");
        let queueing = flow.queueing_ms.unwrap();
        assert!(close(queueing.mean, theirs.mean_ms), "{parts:?} {queueing:?}");
        let ours = [queueing.p50, queueing.p95, queueing.p99, queueing.max];
        let expected = [theirs.p50_ms, theirs.p95_ms, theirs.p99_ms, theirs.max_ms];
        assert_eq!(ours, expected.map(|ms| ms as f64), "{parts:?}");
        // mm-delay 20 stands in the log.
        assert_eq!(flow.one_way_ms.unwrap().max, queueing.max + 20.0);
    }
    assert_eq!(imported.finished.outcomes.len(), 24);
    for file in
        ["result.json", "flows.parquet", "run-0001/series.parquet", "run-0024/series.parquet"]
    {
        assert!(out.join(file).metadata().unwrap().len() > 0, "{file}");
    }
}
