//! The entry of a given link: its losses and its queue, by direction.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_sim::{Losses, QueueLimit};

use super::Wrong;

/// Random streams for losses and drops, separate from those of the network: two for each link.
const LOSSES: u64 = 1 << 62;

/// The two of the wire, after those of all links.
pub(super) const WIRE: u64 = 1 << 32;

/// The entry of one direction.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) queue: QueueLimit,
    share: Option<f64>,
    outages: Option<Losses>,
}

impl Entry {
    /// Up and down.
    pub(super) fn both(
        queues: [QueueLimit; 2],
        shares: [Option<f64>; 2],
        outages: [Option<Losses>; 2],
    ) -> [Self; 2] {
        let entry = |at: usize, name| Self {
            name,
            queue: queues[at],
            share: shares[at],
            outages: outages[at],
        };
        [entry(0, "up"), entry(1, "down")]
    }

    /// The losses; `key` is the table's.
    pub(super) fn losses(&self, key: &str) -> Result<Losses, Wrong> {
        let Self { name, share, outages, .. } = self;
        match (*share, *outages) {
            (Some(_), Some(_)) => {
                let why = format!("a direction has {name}_loss or {name}_outages");
                Err(Wrong::new(format!("{key}.{name}_outages"), why))
            }
            (Some(share), None) => Ok(Losses::Share(share)),
            (None, outages) => Ok(outages.unwrap_or_default()),
        }
    }

    /// The seed of this direction, of the streams at this place.
    pub(super) fn seed(&self, seed: u64, pair: u64) -> u64 {
        let mut lots = ChaCha8Rng::seed_from_u64(seed);
        lots.set_stream(LOSSES + pair + u64::from(self.name == "down"));
        lots.random()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use std::time::Duration;

    use sounding_sim::{Aqm, Device, Port};
    use sounding_units::Bytes;

    use super::super::{PlanError, Run, Text, given, network};
    use super::*;

    const PLAN: &str = r#"
duration = "5s"

[[links]]
up = "12Mbit"
down = "12Mbit"

[wire]

[[flows]]
direction = "up"
"#;

    fn runs(plan: &str, sets: &[&str]) -> Result<Vec<Run>, PlanError> {
        let mut text = Text::new("plan.toml", plan, PathBuf::new());
        sets.iter().try_for_each(|set| text.set(set))?;
        text.runs()
    }

    #[test]
    fn queues_and_losses_of_a_link_are_its_own_by_direction() {
        let sets = [
            "links.0.queue=60kB",
            "links.0.up_queue=codel:target=7ms,packets=9",
            "links.0.down_loss=0.25",
            "links.0.up_outages=fixed:5s,1s",
            "wire.down_queue=pie",
            "wire.up_loss=1",
        ];
        let run = runs(PLAN, &sets).expect("a plan").remove(0);
        let links = |port| given(&run, port).expect("links");
        let [up, wire_up] = &links(Port::up(Device(0)))[..] else { panic!("a link and the wire") };
        let [down, wire_down] = &links(Port::down(Device(0)))[..] else { panic!("both") };
        let codel =
            Aqm::CoDel { target: Duration::from_millis(7), interval: Duration::from_millis(100) };
        assert_eq!(up.queue, QueueLimit { packets: Some(9), ..QueueLimit::managed(codel) });
        assert_eq!(down.queue, QueueLimit::bytes(Bytes::new(60_000)));
        assert_eq!(wire_down.queue, QueueLimit::managed(Aqm::PIE));
        let (on, off) = (Duration::from_secs(5), Duration::from_secs(1));
        assert_eq!(up.losses, Losses::FixedOutages { on, off });
        assert_eq!([down.losses, wire_up.losses], [Losses::Share(0.25), Losses::Share(1.0)]);
        assert_eq!(wire_down.losses, Losses::None);
        let seeds: BTreeSet<u64> = [up, down, wire_up, wire_down].map(|path| path.seed).into();
        assert_eq!(seeds.len(), 4, "each direction has its own");
    }

    #[test]
    fn a_wrong_queue_and_a_wrong_loss_are_named_by_their_key() {
        for (set, key, fault) in [
            ("links.0.up_queue=red", "links.0.up_queue", "\"red\" is no queue"),
            ("links.0.down_queue=codel:target=5", "links.0.down_queue", "no time above zero"),
            ("links.0.up_loss=1.5", "links.0.up_loss", "1.5 is no share of packets from 0 to 1"),
            ("links.0.up_outages=0.5ms,0ms", "links.0.up_outages", "at least 1ms together"),
            ("wire.down_outages=5s", "wire.down_outages", "is not two times with a comma"),
        ] {
            let error = runs(PLAN, &[set]).expect_err(set);
            assert_eq!(error.key, key, "{error}");
            assert!(error.message.contains(fault), "{error}");
        }
        for (table, key) in [("links.0", "links.0.down_outages"), ("wire", "wire.down_outages")] {
            let sets = [format!("{table}.down_loss=0.1"), format!("{table}.down_outages=5s,1s")];
            let run = runs(PLAN, &sets.each_ref().map(String::as_str)).expect("a plan").remove(0);
            let wrong = network::<()>(&run.plan, &run.folder, run.seed).expect_err("two kinds");
            assert_eq!(
                (wrong.key.as_str(), wrong.message.as_str()),
                (key, "a direction has down_loss or down_outages")
            );
        }
    }
}
