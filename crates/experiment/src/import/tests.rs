//! Logs by hand, whose figures can be counted.

use std::fs;

use super::*;

/// A folder with these files, and where the results go.
fn import(files: &[(&str, &str)], change: impl Fn(&mut Import)) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = files.iter().map(|(name, text)| {
        fs::write(folder.path().join(name), text).expect("a file");
        Input { name: None, path: folder.path().join(name) }
    });
    let mut import = Import { inputs: inputs.collect(), ..Import::default() };
    change(&mut import);
    import.run(&folder.path().join("results"))
}

const MM_LINK: &str = "\
# mahimahi mm-link (Downlink) [car.down] > x.log
# base timestamp: 100
# mahimahi config: [delay 20 ms]
100 + 1504
101 + 1504
101 # 1504
102 # 1504
102 - 1504 2
103 + 56
104 # 1504
104 - 1504 3
105 d 1 1504
105 # 1504
105 - 56 2
110 # 1504
";

#[test]
fn a_log_of_mm_link_is_measured_from_the_first_arrival_to_the_last_departure() {
    let imported = import(&[("bbr.log", MM_LINK)], |_| {}).expect("a log");
    let [outcome] = &imported.finished.outcomes[..] else { panic!("one run") };
    assert_eq!(outcome.values[0].1, "car.down");
    let [flow] = &outcome.flows[..] else { panic!("one flow") };
    assert_eq!((flow.controller.as_str(), flow.direction.as_str()), ("bbr", "down"));
    // 1500 + 1500 + 52 bytes in 5 ms, of 4 opportunities.
    assert!((flow.throughput_mbit_per_sec - 3052.0 * 8.0 / 5e3).abs() < 1e-9, "{flow:?}");
    assert!((flow.utilisation.expect("opportunities") - 3052.0 / 6000.0).abs() < 1e-12);
    let queueing = flow.queueing_ms.expect("delays");
    assert_eq!((queueing.p50, queueing.max), (2.0, 3.0));
    assert_eq!(flow.one_way_ms.expect("mm-delay is stated").max, 23.0);
    assert_eq!((flow.sent, flow.arrived, flow.dropped), (Some(3), Some(3), Some(1)));
    assert_eq!(flow.loss, 0.25);
    assert_eq!(flow.goodput_mbit_per_sec, None);
}

#[test]
fn a_byte_order_mark_before_a_file_changes_nothing() {
    let perf = r#"{"bbr": {"1": {"all": {"tput": 1.0, "delay": 2.0, "loss": 0.0}}}}"#;
    for (name, text) in [("bbr.log", MM_LINK), ("pantheon_perf.json", perf)] {
        let [plain, marked] = [text.to_owned(), format!("\u{feff}{text}")].map(|text| {
            let imported = import(&[(name, &text)], |_| {}).expect("figures");
            format!("{:?}", imported.finished.outcomes)
        });
        assert!(plain.contains("bbr"), "{plain}");
        assert_eq!(marked, plain, "{name}");
    }
}

#[test]
fn small_packets_and_what_leaves_after_the_window_can_be_left_out() {
    let question = Question { window: Some(Duration::from_millis(3)), least: Bytes::new(996) };
    let imported = import(&[("bbr.log", MM_LINK)], |import| import.question = question);
    let flow = &imported.expect("a log").finished.outcomes[0].flows[0];
    assert_eq!(flow.arrived, Some(1));
    assert!((flow.throughput_mbit_per_sec - 1500.0 * 8.0 / 3e3).abs() < 1e-9, "{flow:?}");
    let question = Question { least: Bytes::new(1501), ..Question::default() };
    let none = import(&[("bbr.log", MM_LINK)], |import| import.question = question);
    assert!(matches!(none, Err(ImportError::NoneCounts { .. })), "{none:?}");
}

const PANTHEON: &str = "\
# init timestamp: 1540000000.125
0.000 # 1500
10.000 + 1500 1
10.500 + 1400 1
11.000 + 1500 2
20.250 - 1500 10.250 1
24.000 # 1500
30.250 - 1400 19.750 1
40.000 - 1500 29.000 2
41.000 + 1500 2
60.000 # 1500
";

#[test]
fn a_log_of_pantheon_is_measured_flow_by_flow_as_pantheon_does() {
    let files = [("vegas_datalink_run3.log", PANTHEON)];
    let imported = import(&files, |import| import.link = Some("here".into())).expect("a log");
    let outcome = &imported.finished.outcomes[0];
    assert_eq!((outcome.seed, outcome.values[0].1.as_str()), (3, "here"));
    let [one, two] = &outcome.flows[..] else { panic!("two flows") };
    assert_eq!((one.controller.as_str(), one.name.as_str()), ("vegas", "flow 1"));
    // 2900 bytes from the first departure to the last, 10 ms later, of 4500 in 60 ms.
    assert!((one.throughput_mbit_per_sec - 2.32).abs() < 1e-9, "{one:?}");
    assert!((one.utilisation.expect("opportunities") - 2.32 / 0.6).abs() < 1e-9, "{one:?}");
    assert_eq!(one.one_way_ms.map(|delays| delays.p95), Some(19.75));
    assert_eq!((one.loss, two.loss, two.dropped), (0.0, 0.5, Some(1)));
    assert_eq!(two.throughput_mbit_per_sec, 0.0);
}

#[test]
fn a_summary_of_pantheon_has_what_it_says_and_nothing_else() {
    let text = r#"{"bbr": {"1": {"all": {"tput": 9.5, "delay": 80.5, "loss": 0.01},
                                 "1": {"tput": 9.5, "delay": 80.5, "loss": 0.01}},
                           "2": {}},
                   "copa": {"1": {"all": {"tput": 8.0, "delay": null, "loss": 0.0}}}}"#;
    let imported = import(&[("pantheon_perf.json", text)], |_| {}).expect("a summary");
    let outcomes = &imported.finished.outcomes;
    let runs: Vec<_> = outcomes.iter().map(|outcome| outcome.run).collect();
    assert_eq!(runs, [1, 2]);
    let flow = &outcomes[0].flows[0];
    assert_eq!((flow.controller.as_str(), flow.name.as_str()), ("bbr", "flow 1"));
    let delays = flow.one_way_ms.expect("a delay");
    assert!(delays.p95 == 80.5 && delays.mean.is_nan(), "{delays:?}");
    assert_eq!(outcomes[1].flows[0].one_way_ms, None);
    let bad = import(&[("pantheon_perf.json", "[1]")], |_| {});
    assert!(matches!(bad, Err(ImportError::Perf { .. })), "{bad:?}");
}

#[test]
fn lines_that_say_nothing_are_counted_and_a_file_of_them_is_refused() {
    let with = format!("what\n1 + x\n{MM_LINK}106 - 1504 -3\n{}\n", "9".repeat(10_000));
    let imported = import(&[("a.log", &with)], |_| {}).expect("a log");
    let counts: Vec<_> = imported.bad.iter().map(|&(_, problem, count)| (problem, count)).collect();
    let expected =
        [(Problem::Shape, 1), (Problem::Number, 1), (Problem::Negative, 1), (Problem::Long, 1)];
    assert_eq!(counts, expected);
    assert_eq!(imported.finished.outcomes[0].flows[0].arrived, Some(3));
    let error = import(&[("a.log", "what\n")], |_| {}).expect_err("no log").to_string();
    assert!(error.contains("what") && error.contains("a.log"), "{error}");
}

#[test]
fn a_series_has_each_flow_in_each_bin() {
    let files = [("a.log", PANTHEON), ("b.log", MM_LINK)];
    let width = Some(Duration::from_millis(10));
    let imported = import(&files, |import| import.series = width).expect("logs");
    assert_eq!(imported.finished.outcomes.len(), 2);
    // Memory is bounded, whatever the width.
    let late = MM_LINK.to_owned() + "600000000 - 1504 1\n";
    let width = Some(Duration::from_nanos(1));
    let error = import(&[("a.log", &late)], |import| import.series = width).expect_err("too many");
    assert!(error.to_string().contains("bins"), "{error}");
}
