//! The properties, a file a family, in the order of the registry.

mod background;
mod bbr;
mod bbr3;
mod copa;
mod cubic;
mod forecast;
mod gcc;
mod ledbat;
mod lp;
mod pcc;
mod reno;
mod scream;
mod vegas;

use super::rig::Sample;
use super::{Property, says};

/// No bound above, or below.
const ANY: f64 = f64::INFINITY;
const NONE: f64 = f64::NEG_INFINITY;

/// All properties.
pub(super) const PROPERTIES: &[&[Property]] = &[
    reno::RENO,
    cubic::CUBIC,
    reno::HYSTART,
    cubic::NO_HYSTART,
    vegas::VEGAS,
    copa::COPA,
    copa::DEFAULT_MODE,
    ledbat::LEDBAT,
    ledbat::PLUS_PLUS,
    background::LEGILIMENS,
    background::BACKGROUND,
    lp::LP,
    bbr::BBR,
    bbr3::BBR3,
    pcc::ALLEGRO,
    pcc::VIVACE,
    pcc::PROTEUS_S,
    forecast::SPROUT,
    forecast::VERUS,
    gcc::GCC,
    scream::SCREAM,
];

/// The window before each cut and right after it.
fn cuts(samples: &[Sample]) -> Vec<(Sample, Sample)> {
    let pairs = samples.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(|(before, after)| after.cwnd < before.cwnd * 0.8).collect()
}

/// The samples at which a state was entered, with the previous state.
fn entered<'a>(
    samples: &'a [Sample],
    state: &'a str,
) -> impl Iterator<Item = (Sample, Sample)> + 'a {
    let pairs = samples.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(move |(before, after)| before.state != state && after.state == state)
}

/// From one moment to the next, in seconds.
fn apart(moments: impl Iterator<Item = Sample>) -> Vec<f64> {
    let moments: Vec<Sample> = moments.collect();
    moments.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect()
}

/// The minimum; NaN without values.
fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NAN, f64::min)
}

/// The maximum; NaN without values.
fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NAN, f64::max)
}
