//! Which traces a set has, and that they can be made.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;

fn order(traces: u32) -> Order {
    Order { traces, duration: Duration::from_secs(2), seed: 1 }
}

#[test]
fn the_shares_are_those_of_the_paper() {
    let entries = entries(&order(260));
    let share = |of: fn(&Scenario) -> bool, among: fn(&Scenario) -> bool| {
        let among: Vec<_> = entries.iter().map(|entry| entry.scenario).filter(among).collect();
        among.iter().filter(|scenario| of(scenario)).count() as f64 / among.len() as f64
    };
    let close = |share: f64, paper: f64| assert!((share - paper).abs() <= 0.02, "{share} {paper}");
    close(share(|s| s.rat == Rat::Lte, |_| true), 0.5);
    close(share(|s| s.mobile, |s| s.rat == Rat::Lte), 0.5);
    close(share(|s| s.mobile, |s| s.rat == Rat::Nr), 0.8);
    close(share(|s| s.on_peak, |s| s.rat == Rat::Lte), 0.6);
    close(share(|s| s.on_peak, |s| s.rat == Rat::Nr), 0.6);
    close(share(|s| s.on_peak, |s| !s.mobile), 0.6);
}

#[test]
fn a_longer_set_begins_with_a_shorter_one() {
    let plans = |traces| entries(&order(traces)).into_iter().map(|entry| entry.plan);
    assert!(plans(12).eq(plans(40).take(12)));
}

#[test]
fn every_plan_of_a_set_is_one_run_each_way() {
    for entry in entries(&order(20)) {
        let text = Text::new(&entry.name, &entry.plan, PathBuf::new());
        let runs = text.runs().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(runs.len(), 2, "{}", entry.name);
    }
}

/// Files in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct InMemory(Memory, String);

impl Files for Memory {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        Ok(Box::new(InMemory(self.clone(), name.into())))
    }
}

impl Write for InMemory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(self.1.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_is_both_ways_with_the_modems_records_and_repeats_to_the_byte() {
    for entry in entries(&order(2)) {
        let make = || {
            let mut files = Memory::default();
            let made = make(&entry, &mut files, &mut |_| ControlFlow::Continue(()));
            let made = made.unwrap_or_else(|error| panic!("{error}"));
            (made, files.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
        };
        let (made, files) = make();
        let names: Vec<_> = files.keys().map(String::as_str).collect();
        let all = ["down.qmdl", "down.trace", "plan.toml", "trace.json", "up.qmdl", "up.trace"];
        assert_eq!(names, all);
        assert!(files["up.qmdl"].len() > 10_000 && files["down.qmdl"].len() > 10_000);
        assert!(made.up.mean_mbit_per_sec > 0.1 && made.down.mean_mbit_per_sec > 0.1, "{made:?}");
        assert_eq!(make().1, files, "{}", entry.name);
    }
}
