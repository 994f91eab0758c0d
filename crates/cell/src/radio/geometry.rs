//! Positions in a plane, and trajectories of devices.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use sounding_units::HostInstant;

use super::invalid::InvalidConfig;
use super::random::uniform;

/// A place in the plane of the map; heights are properties of sites and devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Metres to the east.
    pub x_m: f64,
    /// Metres to the north.
    pub y_m: f64,
}

impl Position {
    /// The place `x_m` metres to the east and `y_m` metres to the north of the map's origin.
    pub const fn new(x_m: f64, y_m: f64) -> Self {
        Self { x_m, y_m }
    }

    /// Metres over ground to another place.
    pub fn distance_m(self, other: Self) -> f64 {
        libm::hypot(self.x_m - other.x_m, self.y_m - other.y_m)
    }

    /// The place the given share (0..=1) of the way to another.
    fn towards(self, other: Self, share: f64) -> Self {
        Self::new(
            self.x_m + (other.x_m - self.x_m) * share,
            self.y_m + (other.y_m - self.y_m) * share,
        )
    }

    pub(super) fn is_finite(self) -> bool {
        self.x_m.is_finite() && self.y_m.is_finite()
    }
}

/// Position and speed of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The place.
    pub position: Position,
    /// Metres per second over ground.
    pub speed_mps: f64,
}

/// The trajectory of a device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrajectoryConfig {
    /// It stays.
    Static {
        /// The place.
        at: Position,
    },
    /// It moves straight on without end.
    Straight {
        /// Position at time zero.
        from: Position,
        /// Degrees from east, counted towards north.
        heading_deg: f64,
        /// Metres per second, not negative.
        speed_mps: f64,
    },
    /// It goes from point to point.
    Waypoints {
        /// At least two, not all the same.
        points: Vec<Position>,
        /// Metres per second, above zero.
        speed_mps: f64,
        /// The movement after the last point.
        #[serde(default)]
        then: AtTheEnd,
    },
    /// It picks a place in a box, goes there, waits, and picks the next (random waypoint model,
    /// Johnson and Maltz 1996).
    RandomWaypoint {
        /// One corner of the box, and where it starts.
        corner: Position,
        /// The opposite corner, not the same place.
        opposite: Position,
        /// Speed of the slowest leg, m/s. It must be above zero; otherwise the walk would become
        /// slower without end.
        slowest_mps: f64,
        /// Metres per second of the fastest leg.
        fastest_mps: f64,
        /// Seconds spent at each place, not negative.
        #[serde(default)]
        pause_s: f64,
    },
}

impl Default for TrajectoryConfig {
    fn default() -> Self {
        Self::Static { at: Position::new(0.0, 0.0) }
    }
}

/// The movement of a device after its last waypoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtTheEnd {
    /// It stays there.
    #[default]
    Stay,
    /// It goes straight to the first point and begins again.
    Loop,
    /// It goes back the way it came.
    Return,
}

/// A device on its way.
#[derive(Clone, Debug)]
pub struct Trajectory {
    route: Route,
}

#[derive(Clone, Debug)]
enum Route {
    Straight { from: Position, per_sec: Position, speed_mps: f64 },
    Waypoints { points: Vec<Position>, ends_m: Vec<f64>, speed_mps: f64, then: AtTheEnd },
    Random { walk: Box<Walk>, leg: Leg },
}

#[derive(Clone, Debug)]
struct Walk {
    corner: Position,
    opposite: Position,
    slowest_mps: f64,
    fastest_mps: f64,
    pause_s: f64,
    rng: ChaCha8Rng,
}

/// A straight piece of a random walk, with the wait at its end. Times are seconds.
#[derive(Clone, Copy, Debug)]
struct Leg {
    from: Position,
    to: Position,
    start: f64,
    arrival: f64,
    end: f64,
    speed_mps: f64,
}

impl Trajectory {
    /// A device at the beginning of its way. The generator is used by random ways only.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a place or a speed is not finite, or a way has no length.
    pub fn new(config: &TrajectoryConfig, rng: ChaCha8Rng) -> Result<Self, InvalidConfig> {
        let finite = |position: Position| {
            InvalidConfig::unless(
                position.is_finite(),
                "trajectory",
                "a place is two finite numbers",
            )
        };
        let route = match config {
            TrajectoryConfig::Static { at } => {
                finite(*at)?;
                Route::Straight { from: *at, per_sec: Position::default(), speed_mps: 0.0 }
            }
            TrajectoryConfig::Straight { from, heading_deg, speed_mps } => {
                finite(*from)?;
                InvalidConfig::unless(
                    heading_deg.is_finite() && speed_mps.is_finite() && *speed_mps >= 0.0,
                    "trajectory",
                    "a straight way has a finite heading and a finite speed that is not negative",
                )?;
                let (sin, cos) = libm::sincos(heading_deg.to_radians());
                let per_sec = Position::new(speed_mps * cos, speed_mps * sin);
                Route::Straight { from: *from, per_sec, speed_mps: *speed_mps }
            }
            TrajectoryConfig::Waypoints { points, speed_mps, then } => {
                points.iter().try_for_each(|point| finite(*point))?;
                waypoints(points, *speed_mps, *then)?
            }
            TrajectoryConfig::RandomWaypoint {
                corner,
                opposite,
                slowest_mps,
                fastest_mps,
                pause_s,
            } => {
                finite(*corner)?;
                finite(*opposite)?;
                InvalidConfig::unless(
                    corner.distance_m(*opposite) > 0.0,
                    "trajectory",
                    "the corners of a random walk's box are two places",
                )?;
                InvalidConfig::unless(
                    *slowest_mps > 0.0 && fastest_mps >= slowest_mps && fastest_mps.is_finite(),
                    "trajectory",
                    "a random walk's slowest speed is above zero and its fastest is not below that",
                )?;
                InvalidConfig::unless(
                    *pause_s >= 0.0 && pause_s.is_finite(),
                    "trajectory",
                    "a random walk's pause is not negative",
                )?;
                let mut walk = Box::new(Walk {
                    corner: *corner,
                    opposite: *opposite,
                    slowest_mps: *slowest_mps,
                    fastest_mps: *fastest_mps,
                    pause_s: *pause_s,
                    rng,
                });
                let leg = walk.leg(*corner, 0.0);
                Route::Random { walk, leg }
            }
        };
        Ok(Self { route })
    }

    /// Position and speed. A random walk only moves forward in time: a time before that of the last
    /// call gives the beginning of the current leg.
    pub fn at(&mut self, now: HostInstant) -> Motion {
        let secs = now.as_nanos() as f64 * 1e-9;
        match &mut self.route {
            Route::Straight { from, per_sec, speed_mps } => {
                let position =
                    Position::new(from.x_m + per_sec.x_m * secs, from.y_m + per_sec.y_m * secs);
                Motion { position, speed_mps: *speed_mps }
            }
            Route::Waypoints { points, ends_m, speed_mps, then } => {
                along(points, ends_m, *speed_mps, *then, secs)
            }
            Route::Random { walk, leg } => {
                while leg.end <= secs {
                    *leg = walk.leg(leg.to, leg.end);
                }
                leg.at(secs)
            }
        }
    }
}

fn waypoints(points: &[Position], speed_mps: f64, then: AtTheEnd) -> Result<Route, InvalidConfig> {
    InvalidConfig::unless(
        speed_mps > 0.0 && speed_mps.is_finite(),
        "trajectory",
        "the speed between waypoints is above zero",
    )?;
    let mut points = points.to_vec();
    if then == AtTheEnd::Loop {
        points.extend(points.first().copied());
    }
    let mut total = 0.0;
    let mut ends_m = Vec::with_capacity(points.len());
    for pair in points.windows(2) {
        total += pair[0].distance_m(pair[1]);
        ends_m.push(total);
    }
    InvalidConfig::unless(total > 0.0, "trajectory", "waypoints are at least two places")?;
    Ok(Route::Waypoints { points, ends_m, speed_mps, then })
}

fn along(points: &[Position], ends_m: &[f64], speed_mps: f64, then: AtTheEnd, secs: f64) -> Motion {
    let total = ends_m.last().copied().unwrap_or(0.0);
    let gone = speed_mps * secs;
    let (gone, speed_mps) = match then {
        AtTheEnd::Stay if gone >= total => (total, 0.0),
        AtTheEnd::Stay => (gone, speed_mps),
        AtTheEnd::Loop => (libm::fmod(gone, total), speed_mps),
        AtTheEnd::Return => {
            let phase = libm::fmod(gone, 2.0 * total);
            (if phase > total { 2.0 * total - phase } else { phase }, speed_mps)
        }
    };
    let leg = ends_m.partition_point(|end| *end < gone).min(ends_m.len() - 1);
    let start = if leg == 0 { 0.0 } else { ends_m[leg - 1] };
    let length = ends_m[leg] - start;
    let share = if length > 0.0 { (gone - start) / length } else { 0.0 };
    Motion { position: points[leg].towards(points[leg + 1], share), speed_mps }
}

impl Walk {
    fn leg(&mut self, from: Position, start: f64) -> Leg {
        let to = Position::new(
            self.corner.x_m + (self.opposite.x_m - self.corner.x_m) * uniform(&mut self.rng),
            self.corner.y_m + (self.opposite.y_m - self.corner.y_m) * uniform(&mut self.rng),
        );
        let speed_mps =
            self.slowest_mps + (self.fastest_mps - self.slowest_mps) * uniform(&mut self.rng);
        let arrival = start + from.distance_m(to) / speed_mps;
        Leg { from, to, start, arrival, end: arrival + self.pause_s, speed_mps }
    }
}

impl Leg {
    fn at(&self, secs: f64) -> Motion {
        if secs >= self.arrival {
            return Motion { position: self.to, speed_mps: 0.0 };
        }
        let share = ((secs - self.start) / (self.arrival - self.start)).clamp(0.0, 1.0);
        Motion { position: self.from.towards(self.to, share), speed_mps: self.speed_mps }
    }
}

#[cfg(test)]
mod tests;
