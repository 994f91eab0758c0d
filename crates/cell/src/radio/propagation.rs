//! A channel's mean by where the device is: path loss, line of sight and shadowing of TR 38.901.

use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use sounding_phy::channel::{Geometry, Scenario, Shadowing, los_probability, path_loss_db};

use super::config::{CarrierConfig, DeviceConfig, SiteConfig};
use super::decibel::power;
use super::fading::FadingConfig;
use super::geometry::Position;
use super::interference::InterferenceConfig;
use super::invalid::InvalidConfig;
use super::random::normal;
use super::shadow::Shadow;
use super::visibility::SiteVisibility;

/// Metres a device goes before its mean is worked out again: at ten metres from the site that is a
/// change of 0.1 dB.
const REFRESH_M: f64 = 0.1;

/// Gain to a device that was nowhere yet.
const NOWHERE_DB: f32 = -300.0;

/// A channel whose mean follows from the device's place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PropagationConfig {
    /// The surroundings.
    pub scenario: Surroundings,
    /// Whether the device sees the site.
    pub line_of_sight: LineOfSight,
    /// Whether large obstacles vary the path loss (TR 38.901 §7.4.4).
    pub shadowing: bool,
    /// A further loss, dB, of a wall or a vehicle; range 0..=60.
    pub further_loss_db: f32,
    /// Small-scale fading.
    pub fading: FadingConfig,
    /// Other cells on the carrier.
    pub interference: InterferenceConfig,
}

impl Default for PropagationConfig {
    fn default() -> Self {
        Self {
            scenario: Surroundings::default(),
            line_of_sight: LineOfSight::default(),
            shadowing: true,
            further_loss_db: 0.0,
            fading: FadingConfig::default(),
            interference: InterferenceConfig::default(),
        }
    }
}

/// Scenarios of TR 38.901 §7.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surroundings {
    /// Urban macro: sites above the roofs.
    #[default]
    Uma,
    /// Urban micro: sites in the street.
    Umi,
    /// Rural macro.
    Rma,
    /// Indoor hotspot, mixed office.
    Inh,
}

/// Whether a device sees its site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineOfSight {
    /// By its probability at the place (TR 38.901 §7.4.2).
    #[default]
    Drawn,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl Surroundings {
    fn scenario(self) -> Scenario {
        match self {
            Self::Uma => Scenario::Uma,
            Self::Umi => Scenario::Umi,
            Self::Rma => Scenario::Rma,
            Self::Inh => Scenario::Inh,
        }
    }

    /// Metres over ground from which the model holds (TR 38.901 Table 7.4.1-1): nearer is as loud
    /// as there.
    fn nearest_m(self) -> f64 {
        match self {
            Self::Uma | Self::Umi | Self::Rma => 10.0,
            Self::Inh => 1.0,
        }
    }

    /// Metres between which the state of sight is correlated by 1/e (TR 38.901 Table 7.6.3.1-2).
    fn sight_correlation_m(self) -> f64 {
        match self {
            Self::Uma | Self::Umi => 50.0,
            Self::Rma => 60.0,
            Self::Inh => 10.0,
        }
    }

    /// Mean and standard deviation of the Rician K in line of sight, dB (TR 38.901 Table 7.5-6).
    fn rician_k_db(self) -> (f64, f64) {
        match self {
            Self::Uma => (9.0, 3.5),
            Self::Umi => (9.0, 5.0),
            Self::Rma | Self::Inh => (7.0, 4.0),
        }
    }
}

/// The mean of a channel along the device's way.
#[derive(Clone, Debug)]
pub(super) struct Propagation {
    config: PropagationConfig,
    site: Position,
    heights_m: (f64, f64),
    frequency_ghz: f64,
    antenna_gain_dbi: f32,
    place: Option<Place>,
    /// Rician K, linear, where the device sees the site.
    clear_k: f32,
    gain_db: f32,
    k: f32,
}

/// The last computed state, and the distance that the device has moved since.
#[derive(Clone, Debug)]
struct Place {
    position: Position,
    shadow: Shadow,
    visibility: SiteVisibility,
}

impl Propagation {
    pub(super) fn new(
        config: &PropagationConfig,
        (carrier, site, device): (&CarrierConfig, &SiteConfig, &DeviceConfig),
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, InvalidConfig> {
        InvalidConfig::unless(
            (0.0..=60.0).contains(&config.further_loss_db),
            "model.further_loss_db",
            "is between 0 and 60",
        )?;
        let (mean, deviation) = config.scenario.rician_k_db();
        let drawn = mean + deviation * normal(rng);
        let clear_k = power(config.fading.rician_k_db.unwrap_or(drawn as f32));
        Ok(Self {
            site: site.position,
            heights_m: (site.height_m, device.height_m),
            frequency_ghz: carrier.frequency_mhz / 1e3,
            antenna_gain_dbi: site.antenna_gain_dbi,
            config: config.clone(),
            place: None,
            clear_k,
            gain_db: NOWHERE_DB,
            k: 0.0,
        })
    }

    /// Moves the device; true if the mean was computed again.
    #[inline]
    pub(super) fn advance(&mut self, position: Position, rng: &mut ChaCha8Rng) -> bool {
        if let Some(place) = &self.place {
            let (x, y) = (position.x_m - place.position.x_m, position.y_m - place.position.y_m);
            if x * x + y * y < REFRESH_M * REFRESH_M {
                return false;
            }
        }
        if !position.is_finite() {
            return false;
        }
        self.settle(position, rng);
        true
    }

    fn settle(&mut self, position: Position, rng: &mut ChaCha8Rng) {
        let scenario = self.config.scenario.scenario();
        let surroundings = self.config.scenario;
        let link = Geometry {
            ground_m: position.distance_m(self.site).max(surroundings.nearest_m()),
            base_m: self.heights_m.0,
            device_m: self.heights_m.1,
        };
        let probability = match self.config.line_of_sight {
            LineOfSight::Drawn => los_probability(scenario, &link),
            LineOfSight::Always => 1.0,
            LineOfSight::Never => 0.0,
        };
        let correlation_m = surroundings.sight_correlation_m();
        let place = match self.place.take() {
            None => Place {
                position,
                shadow: Shadow::new(rng),
                visibility: SiteVisibility::new(probability, correlation_m, rng),
            },
            Some(mut place) => {
                let gone = place.position.distance_m(position);
                place.position = position;
                place.visibility.advance(gone, probability, correlation_m, rng);
                let shadowing = Shadowing::of(scenario, place.visibility.share() > 0.5);
                place.shadow.advance(gone, shadowing.correlation_m, rng);
                place
            }
        };
        let clear = place.visibility.share();
        let mix = |with: f64, without: f64| clear * with + (1.0 - clear) * without;
        let loss = |clear| path_loss_db(scenario, &link, clear, self.frequency_ghz);
        let loss = mix(loss(true), loss(false));
        let deviation = |clear| Shadowing::of(scenario, clear).sigma_db;
        let deviation = mix(deviation(true), deviation(false));
        let shadow = if self.config.shadowing { deviation * place.shadow.value() } else { 0.0 };
        self.gain_db = self.antenna_gain_dbi - self.config.further_loss_db - (loss + shadow) as f32;
        self.k = self.clear_k * clear as f32;
        self.place = Some(place);
    }

    /// Coupling gain between the antenna ports, dB, without small-scale fading.
    pub(super) fn gain_db(&self) -> f32 {
        self.gain_db
    }

    /// Rician K here, linear.
    pub(super) fn rician_k(&self) -> f32 {
        self.k
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::vec::Vec;

    fn propagation(config: &PropagationConfig, rng: &mut ChaCha8Rng) -> Propagation {
        let ends = (&CarrierConfig::default(), &SiteConfig::default(), &DeviceConfig::default());
        Propagation::new(config, ends, rng).expect("possible")
    }

    fn settled(text: &str, x_m: f64, seed: u64) -> Propagation {
        let config: PropagationConfig = toml::from_str(text).expect(text);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut propagation = propagation(&config, &mut rng);
        propagation.advance(Position::new(x_m, 0.0), &mut rng);
        propagation
    }

    /// Mean and standard deviation over seeds.
    fn over_seeds(value: impl Fn(u64) -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..4_000).map(value).collect();
        let mean = values.iter().sum::<f64>() / 4_000.0;
        let squares = values.iter().map(|value| (value - mean) * (value - mean));
        (mean, libm::sqrt(squares.sum::<f64>() / 4_000.0))
    }

    #[test]
    fn gain_is_the_path_loss_of_the_scenario_at_the_place() {
        // The antenna's 14 dBi minus the loss at 1.8425 GHz from 25 m to 1.5 m, computed by hand at
        // 200 m: the logarithm of 201.376 m is 2.304_008, that of the frequency 0.265_408.
        for (text, loss) in [
            ("line_of_sight = 'always'", 28.0 + 22.0 * 2.304_008 + 20.0 * 0.265_408),
            ("line_of_sight = 'never'", 13.54 + 39.08 * 2.304_008 + 20.0 * 0.265_408),
            (
                "line_of_sight = 'never'\nscenario = 'inh'",
                38.3 * 2.304_008 + 17.3 + 24.9 * 0.265_408,
            ),
            (
                "line_of_sight = 'never'\nfurther_loss_db = 20",
                33.54 + 39.08 * 2.304_008 + 20.0 * 0.265_408,
            ),
        ] {
            let propagation = settled(&std::format!("shadowing = false\n{text}"), 200.0, 1);
            let want = 14.0 - loss as f32;
            let have = propagation.gain_db();
            assert!((have - want).abs() < 0.01, "{text}: {have}, not {want}");
        }
    }

    #[test]
    fn shadowing_spreads_the_gain_by_the_sigma_of_the_state() {
        for (state, sigma) in [("always", 4.0), ("never", 6.0)] {
            let text = std::format!("line_of_sight = '{state}'");
            let (_, spread) = over_seeds(|seed| settled(&text, 300.0, seed).gain_db().into());
            assert!((spread - sigma).abs() < 0.25, "{state}: {spread} dB");
        }
    }

    #[test]
    fn sight_is_as_frequent_as_its_probability_and_k_is_nought_without_it() {
        // Urban macro at 100 m: 0.18 + e^(-100/63) (1 - 0.18).
        let want = 0.18 + 0.82 * libm::exp(-100.0 / 63.0);
        let (share, _) = over_seeds(|seed| {
            let propagation = settled("", 100.0, seed);
            f64::from(u8::from(propagation.rician_k() > 0.0))
        });
        assert!((share - want).abs() < 0.03, "{share}, not {want}");
    }

    #[test]
    fn rician_k_in_sight_spreads_about_its_mean() {
        let text = "scenario = 'uma'\nline_of_sight = 'always'";
        let db = |seed| 10.0 * libm::log10(f64::from(settled(text, 100.0, seed).rician_k()));
        let (mean, spread) = over_seeds(db);
        assert!((mean - 9.0).abs() < 0.2 && (spread - 3.5).abs() < 0.15, "{mean} {spread}");
    }

    #[test]
    fn ten_centimetres_never_change_the_gain_by_two_decibels() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let config = PropagationConfig::default();
        let mut propagation = propagation(&config, &mut rng);
        propagation.advance(Position::new(-500.0, 30.0), &mut rng);
        let mut before = propagation.gain_db();
        let mut least = before;
        let mut most = before;
        for step in 1..10_000 {
            let x_m = -500.0 + f64::from(step) / 10.0;
            propagation.advance(Position::new(x_m, 30.0), &mut rng);
            let now = propagation.gain_db();
            assert!((now - before).abs() < 2.0, "at {x_m} m: {before} to {now}");
            (before, least, most) = (now, least.min(now), most.max(now));
        }
        assert!(most - least > 20.0, "a walk past the site changes the gain");
    }
}
