//! The 40 places of Table 1: which are busy, how many carriers a phone there has, and how strong
//! they are. All of it is drawn from a place's seed and chosen by us: the paper's places are on a
//! campus, and no more is said of them.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use sounding_experiment::plan::{PlanError, Run};

use super::Item;

/// How many places there are (§6.3.1).
pub(super) const PLACES: usize = 40;

/// The first place's seed. Seeds below were used while the law was made.
pub(super) const FIRST_SEED: u64 = 1001;

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Place {
    /// Counted from 1.
    pub(super) number: usize,
    /// What all that is drawn there follows from.
    pub(super) seed: u64,
    /// Carriers that the phone may use: 1, 2 or 3.
    pub(super) carriers: usize,
    /// Day, with others in the cells; else late night.
    pub(super) busy: bool,
    /// Whether it is in a building, where the signal is weaker.
    pub(super) indoor: bool,
    /// The mean of the phone's SINR.
    pub(super) sinr_db: f64,
    /// Objects that each other user fetches in a second.
    pub(super) objects_per_sec: f64,
    /// Other users of the primary carrier; a further carrier has half as many.
    pub(super) others: u16,
}

impl Place {
    /// Five in eight are busy, one in four has one carrier, as the paper's 25 of 40, and 10 of 40.
    /// The first place has `first_seed`.
    pub(super) fn of(number: usize, first_seed: u64) -> Self {
        let seed = first_seed + number as u64 - 1;
        let mut lots = ChaCha8Rng::seed_from_u64(seed);
        let at = number - 1;
        let busy = at % 8 < 5;
        // By eights, so that each number of carriers has busy and idle places.
        let carriers = [1, 2, 3, 2, 3, 1, 2, 3][(at + at / 8) % 8];
        let indoor = lots.random::<f64>() < 0.5;
        let sinr_db =
            if indoor { lots.random_range(8.0..17.0) } else { lots.random_range(14.0..24.0) };
        // Busy: around PBE-CC's tower, which had 1.3 users with data at a time (Fig. 7). Idle: next
        // to none.
        let (objects_per_sec, others) =
            if busy { (lots.random_range(2.1..6.3), lots.random_range(6..=14)) } else { (0.05, 2) };
        Self { number, seed, carriers, busy, indoor, sinr_db, objects_per_sec, others }
    }

    /// Its name in tables.
    pub(super) fn name(&self) -> String {
        let Self { number, carriers, busy, indoor, .. } = self;
        let (when, where_) =
            (if *busy { "busy" } else { "idle" }, if *indoor { "indoor" } else { "outdoor" });
        format!("{number}: {carriers} cells, {where_}, {when}")
    }

    /// The runs at this place: one for each controller. `further` is set after what is drawn.
    pub(super) fn runs(&self, span: Duration, further: &[String]) -> Result<Vec<Run>, PlanError> {
        let mut text = Item::Table1.files().text();
        let used: Vec<String> = (0..self.carriers).map(|carrier| carrier.to_string()).collect();
        let mut sets = vec![
            format!("seeds={}", self.seed),
            format!("duration=\"{}ms\"", span.as_millis()),
            format!("cell.devices.phone.cells=[[{}]]", used.join(", ")),
            format!("cell.devices.phone.channel.levels.0.sinr_db={:.2}", self.sinr_db),
        ];
        for carrier in 0..3 {
            let full = if carrier == 0 { 360.0 } else { 180.0 };
            let is_used = carrier < self.carriers;
            let control = match (is_used, self.busy) {
                (true, true) => full,
                (true, false) => full / 18.0,
                // No device uses it.
                (false, _) => 0.0,
            };
            let users = if carrier == 0 { self.others } else { self.others / 2 };
            let users = if is_used { users } else { 0 };
            let device = carrier + 1;
            sets.push(format!("cell.carriers.{carrier}.control_users_per_sec={control:.1}"));
            sets.push(format!("cell.devices.{device}.count={users}"));
            let often = self.objects_per_sec;
            sets.push(format!("cell.devices.{device}.traffic.per_sec={often:.3}"));
        }
        for set in sets.iter().chain(further) {
            text.set(set)?;
        }
        text.runs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_five_of_forty_places_are_busy_and_ten_have_one_carrier() {
        let places: Vec<Place> = (1..=PLACES).map(|number| Place::of(number, FIRST_SEED)).collect();
        let count = |of: &dyn Fn(&Place) -> bool| places.iter().filter(|place| of(place)).count();
        assert_eq!(count(&|place| place.busy), 25);
        assert_eq!([1, 2, 3].map(|n| count(&|place| place.carriers == n)), [10, 15, 15]);
        for carriers in 1..=3 {
            for busy in [true, false] {
                assert!(count(&|place| place.carriers == carriers && place.busy == busy) >= 3);
            }
        }
    }

    #[test]
    fn a_place_is_a_run_for_each_of_nine_controllers_over_its_carriers() {
        for number in [1, 2, 6] {
            let place = Place::of(number, FIRST_SEED);
            let runs = place.runs(Duration::from_secs(3), &[]).unwrap();
            assert_eq!(runs.len(), 9);
            for run in runs {
                let cell = run.plan.cell.unwrap();
                assert_eq!(cell.devices[0].config.cells[0].len(), place.carriers);
                let users = cell.devices[1..].iter().filter(|device| device.count > 0);
                assert_eq!(users.count(), place.carriers);
            }
        }
    }
}
