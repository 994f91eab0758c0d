//! Small-scale fading: Clarke's model as a sum of eight sinusoids a tap, the taps added up at each
//! sub-band.
//!
//! Sinusoid n of a tap turns by cos(α_n) radians for each radian of carrier phase that the device
//! travels. Its angle of arrival α_n is drawn from the n-th eighth of the circle, and its phase
//! from the whole circle. The ensemble's autocorrelation is then exactly J0 of the distance
//! travelled (Xiao, Zheng, Beaulieu 2006). A step multiplies phasors; sines and cosines are
//! computed only when the step's length changes.
//!
//! Antennas and the two directions of an FDD carrier use the same eight sinusoids, with the signs
//! of different Walsh codes (Dent, Bottomley, Croft 1993). That makes them uncorrelated at the cost
//! of a few additions.

mod config;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use rand_chacha::ChaCha8Rng;

pub use config::FadingConfig;

use super::profile::DelayProfile;
use super::random::uniform;

/// Sub-bands and taps are worked on four at a time: the width of the vector registers every target
/// has.
const LANES: usize = 4;
type Lanes = [f32; LANES];

/// Sinusoids a tap.
const SINUSOIDS: usize = 8;

/// Number of Walsh codes, and so the maximum number of branches.
pub(super) const BRANCHES: usize = 4;

/// Steps after which the phasors are brought back to length one: each step's rounding lengthens
/// them by at most 1e-7 or so.
const STEPS_BETWEEN_TRIMS: u32 = 256;

/// Radians of travel a step may have for the series of [`turns`].
const MAX_SERIES: f64 = 4.0;

/// The sinusoids of four taps.
#[derive(Clone, Debug)]
struct Taps {
    re: [Lanes; SINUSOIDS],
    im: [Lanes; SINUSOIDS],
    step_re: [Lanes; SINUSOIDS],
    step_im: [Lanes; SINUSOIDS],
    /// Doppler shift as a part of the largest, cos α.
    shift: [Lanes; SINUSOIDS],
}

/// Four sub-bands' view of the taps: amplitude and phase of each tap there.
#[derive(Clone, Debug)]
struct Bands {
    re: Vec<Lanes>,
    im: Vec<Lanes>,
}

/// Groups of branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branches {
    /// Antennas of the device, 1 or 2: maximum-ratio combining adds their powers.
    pub device: usize,
    /// Antennas of the site, 1 or 2.
    pub site: usize,
    /// Both directions share one frequency, and so one fading.
    pub reciprocal: bool,
}

/// The fading of one device on one carrier.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    taps: Vec<Taps>,
    tap_count: usize,
    bands: Vec<Bands>,
    branches: Branches,
    /// The path that no echo delays: its phasor, its step and its Doppler share.
    direct: [f32; 2],
    direct_step: [f32; 2],
    direct_shift: f64,
    /// Amplitudes of the direct path and of all echoes together; their squares add up to one.
    direct_amplitude: f32,
    echo_amplitude: f32,
    /// Radians of travel that the steps cover.
    stepped: f64,
    untrimmed: u32,
    /// Power gain of each sub-band, antennas added up; padded to whole lanes.
    downlink: Vec<Lanes>,
    uplink: Vec<Lanes>,
}

impl Fading {
    /// `offsets_hz`: the middle of each sub-band relative to the carrier's.
    pub(super) fn new(
        profile: DelayProfile,
        offsets_hz: &[f64],
        branches: Branches,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let profile = profile.taps();
        let groups = profile.len().div_ceil(LANES);
        let taps = (0..groups).map(|_| Taps::draw(rng)).collect();
        let total: f64 = profile.iter().map(|tap| linear(tap.power_db)).sum();
        let bands = offsets_hz
            .chunks(LANES)
            .map(|offsets| {
                let mut bands = Bands { re: Vec::new(), im: Vec::new() };
                for tap in profile {
                    let amplitude = libm::sqrt(linear(tap.power_db) / total / SINUSOIDS as f64);
                    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
                    for (lane, offset) in offsets.iter().enumerate() {
                        let turns = offset * f64::from(tap.delay_ns) * 1e-9;
                        let (sin, cos) = libm::sincos(-core::f64::consts::TAU * turns);
                        re[lane] = (amplitude * cos) as f32;
                        im[lane] = (amplitude * sin) as f32;
                    }
                    bands.re.push(re);
                    bands.im.push(im);
                }
                bands
            })
            .collect();
        let (sin, cos) = libm::sincos(core::f64::consts::TAU * uniform(rng));
        let direct_shift = libm::cos(core::f64::consts::TAU * uniform(rng));
        let empty = alloc::vec![[0.0; LANES]; offsets_hz.len().div_ceil(LANES)];
        let mut fading = Self {
            taps,
            tap_count: profile.len(),
            bands,
            branches,
            direct: [cos as f32, sin as f32],
            direct_step: [1.0, 0.0],
            direct_shift,
            direct_amplitude: 0.0,
            echo_amplitude: 1.0,
            stepped: f64::NAN,
            untrimmed: 0,
            downlink: empty.clone(),
            uplink: empty,
        };
        fading.add_up();
        fading
    }

    /// The direct path's power ÷ that of the echoes, Rician K; zero without a direct path.
    pub(super) fn set_rician(&mut self, k: f32) {
        self.direct_amplitude = libm::sqrtf(k / (k + 1.0));
        self.echo_amplitude = libm::sqrtf(1.0 / (k + 1.0));
    }

    /// The device (or its surroundings) has moved by this many radians of carrier phase.
    pub(super) fn advance(&mut self, radians: f64) {
        if radians != self.stepped {
            self.stepped = radians;
            for taps in &mut self.taps {
                taps.set_step(radians);
            }
            let (sin, cos) = libm::sincos(radians * self.direct_shift);
            self.direct_step = [cos as f32, sin as f32];
        }
        for taps in &mut self.taps {
            taps.step();
        }
        let ([re, im], [c, s]) = (self.direct, self.direct_step);
        self.direct = [re * c - im * s, re * s + im * c];
        self.untrimmed += 1;
        if self.untrimmed == STEPS_BETWEEN_TRIMS {
            self.untrimmed = 0;
            self.trim();
        }
        self.add_up();
    }

    /// Power gain of each sub-band towards the device, antennas added up.
    pub(super) fn downlink(&self) -> &[Lanes] {
        &self.downlink
    }

    /// Power gain of each sub-band towards the site, antennas added up.
    pub(super) fn uplink(&self) -> &[Lanes] {
        &self.uplink
    }

    fn trim(&mut self) {
        for taps in &mut self.taps {
            taps.trim();
        }
        let [re, im] = self.direct;
        let trim = 1.5 - 0.5 * (re * re + im * im);
        self.direct = [re * trim, im * trim];
    }

    fn add_up(&mut self) {
        let Branches { device, site, reciprocal } = self.branches;
        let mut sums = [[[[0.0; LANES]; 2]; BRANCHES]; MAX_GROUPS];
        for (sums, taps) in sums.iter_mut().zip(&self.taps) {
            *sums = taps.sums();
        }
        let direct =
            [self.direct[0] * self.direct_amplitude, self.direct[1] * self.direct_amplitude];
        let uplink_from = if reciprocal { 0 } else { device };
        for (at, bands) in self.bands.iter().enumerate() {
            let mut down = [0.0; LANES];
            for branch in 0..device {
                bands.add_power(
                    &mut down,
                    &sums,
                    self.tap_count,
                    branch,
                    direct,
                    self.echo_amplitude,
                );
            }
            self.downlink[at] = down;
            let mut up = [0.0; LANES];
            for branch in uplink_from..uplink_from + site {
                bands.add_power(
                    &mut up,
                    &sums,
                    self.tap_count,
                    branch,
                    direct,
                    self.echo_amplitude,
                );
            }
            self.uplink[at] = up;
        }
    }
}

/// Groups of four taps in the longest profile.
const MAX_GROUPS: usize = 3;

type Sums = [[[Lanes; 2]; BRANCHES]; MAX_GROUPS];

impl Bands {
    #[inline]
    fn add_power(
        &self,
        power: &mut Lanes,
        sums: &Sums,
        taps: usize,
        branch: usize,
        direct: [f32; 2],
        echoes: f32,
    ) {
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        for (tap, (there_re, there_im)) in self.re.iter().zip(&self.im).enumerate().take(taps) {
            let [group_re, group_im] = &sums[tap / LANES][branch];
            let (tap_re, tap_im) = (group_re[tap % LANES], group_im[tap % LANES]);
            for lane in 0..LANES {
                re[lane] += tap_re * there_re[lane] - tap_im * there_im[lane];
                im[lane] += tap_re * there_im[lane] + tap_im * there_re[lane];
            }
        }
        for lane in 0..LANES {
            let re = re[lane] * echoes + direct[0];
            let im = im[lane] * echoes + direct[1];
            power[lane] += re * re + im * im;
        }
    }
}

impl Taps {
    fn draw(rng: &mut ChaCha8Rng) -> Self {
        let still = [[0.0; LANES]; SINUSOIDS];
        let mut taps = Self { re: still, im: still, step_re: still, step_im: still, shift: still };
        for lane in 0..LANES {
            for sinusoid in 0..SINUSOIDS {
                let eighth = (sinusoid as f64 + uniform(rng)) / SINUSOIDS as f64;
                let shift = libm::cos(core::f64::consts::TAU * eighth);
                let (sin, cos) = libm::sincos(core::f64::consts::TAU * uniform(rng));
                taps.shift[sinusoid][lane] = shift as f32;
                taps.re[sinusoid][lane] = cos as f32;
                taps.im[sinusoid][lane] = sin as f32;
            }
        }
        taps
    }

    fn set_step(&mut self, radians: f64) {
        for sinusoid in 0..SINUSOIDS {
            let shift = &self.shift[sinusoid];
            let step = self.step_re[sinusoid].iter_mut().zip(&mut self.step_im[sinusoid]);
            if radians <= MAX_SERIES {
                let radians = radians as f32;
                for ((re, im), shift) in step.zip(shift) {
                    (*im, *re) = turns(shift * radians);
                }
            } else {
                for ((re, im), shift) in step.zip(shift) {
                    let (sin, cos) = libm::sincos(f64::from(*shift) * radians);
                    (*re, *im) = (cos as f32, sin as f32);
                }
            }
        }
    }

    #[inline]
    fn step(&mut self) {
        for sinusoid in 0..SINUSOIDS {
            let (re, im) = (&mut self.re[sinusoid], &mut self.im[sinusoid]);
            let (c, s) = (&self.step_re[sinusoid], &self.step_im[sinusoid]);
            for lane in 0..LANES {
                let (r, i) = (re[lane], im[lane]);
                re[lane] = r * c[lane] - i * s[lane];
                im[lane] = r * s[lane] + i * c[lane];
            }
        }
    }

    /// One step of Newton's method towards length one.
    fn trim(&mut self) {
        for sinusoid in 0..SINUSOIDS {
            for lane in 0..LANES {
                let (re, im) = (self.re[sinusoid][lane], self.im[sinusoid][lane]);
                let trim = 1.5 - 0.5 * (re * re + im * im);
                self.re[sinusoid][lane] = re * trim;
                self.im[sinusoid][lane] = im * trim;
            }
        }
    }

    /// The sinusoids added up with the signs of four Walsh codes.
    #[inline]
    fn sums(&self) -> [[Lanes; 2]; BRANCHES] {
        let [a, b, c, d] = fold(&self.re);
        let [e, f, g, h] = fold(&self.im);
        [[a, e], [b, f], [c, g], [d, h]]
    }
}

/// Codes + + + +, + − + −, + + − − and + − − + over the sinusoids, the second four like the first.
#[inline]
fn fold(of: &[Lanes; SINUSOIDS]) -> [Lanes; BRANCHES] {
    let mut codes = [[0.0; LANES]; BRANCHES];
    for lane in 0..LANES {
        let even = of[0][lane] + of[4][lane];
        let odd = of[1][lane] + of[5][lane];
        let third = of[2][lane] + of[6][lane];
        let fourth = of[3][lane] + of[7][lane];
        let (sum_low, difference_low) = (even + odd, even - odd);
        let (sum_high, difference_high) = (third + fourth, third - fourth);
        codes[0][lane] = sum_low + sum_high;
        codes[1][lane] = difference_low + difference_high;
        codes[2][lane] = sum_low - sum_high;
        codes[3][lane] = difference_low - difference_high;
    }
    codes
}

/// Sine and cosine of up to four radians, by the series of a quarter of the angle and two
/// doublings; written so that it becomes vector instructions. Error below 1e-6.
#[inline]
fn turns(radians: f32) -> (f32, f32) {
    let x = radians * 0.25;
    let y = x * x;
    let sin =
        x * (1.0 + y * (-1.0 / 6.0 + y * (1.0 / 120.0 + y * (-1.0 / 5_040.0 + y / 362_880.0))));
    let cos = 1.0
        + y * (-0.5
            + y * (1.0 / 24.0 + y * (-1.0 / 720.0 + y * (1.0 / 40_320.0 - y / 3_628_800.0))));
    let (sin, cos) = (2.0 * sin * cos, 1.0 - 2.0 * sin * sin);
    (2.0 * sin * cos, 1.0 - 2.0 * sin * sin)
}

fn linear(db: f32) -> f64 {
    libm::pow(10.0, f64::from(db) / 10.0)
}
