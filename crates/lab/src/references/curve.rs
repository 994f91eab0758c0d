//! The references' results by room and averaging span, and those of the controllers.

use std::fmt;

use serde::Serialize;

use super::Hears;
use crate::table::Table;

/// Throughput and delay of one sender: medians over links or cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// Percent of the oracle's throughput, or of the cell's capacity.
    pub throughput_percent: f64,
    /// The 95th percentile of delay beyond the oracle's, or beyond the empty cell's, ms.
    pub beyond_ms: f64,
}

/// One room and span.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// Queueing delay to keep at the link, ms.
    pub room_ms: u64,
    /// The link's rate is its mean over this span, ms.
    pub span_ms: u64,
    /// The result.
    #[serde(flatten)]
    pub reached: Reached,
}

/// A reference at each of its points.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Its name.
    pub reference: String,
    /// When it receives reports of its link.
    #[serde(skip)]
    pub hears: Hears,
    /// Room by room, and of each span by span.
    pub points: Vec<Point>,
}

/// A reference's delay at a given throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum There {
    /// On the line between two rooms, ms.
    At(f64),
    /// The least room that was tried carries as much already: this many ms or less.
    AtMost(f64),
    /// No room that was tried carries as much.
    Beyond,
}

impl Curve {
    /// The delay at this much throughput, by the rooms of one span.
    pub fn at(&self, span_ms: u64, throughput_percent: f64) -> There {
        let mut those: Vec<Point> =
            self.points.iter().copied().filter(|point| point.span_ms == span_ms).collect();
        those.sort_by_key(|point| point.room_ms);
        let reaches = |point: &Point| point.reached.throughput_percent >= throughput_percent;
        match those.iter().position(reaches) {
            None => There::Beyond,
            Some(0) => There::AtMost(those[0].reached.beyond_ms),
            Some(after) => {
                let [low, high] = [those[after - 1].reached, those[after].reached];
                // A point that reaches the throughput has more than one that does not.
                let part = (throughput_percent - low.throughput_percent)
                    / (high.throughput_percent - low.throughput_percent);
                There::At(low.beyond_ms + part * (high.beyond_ms - low.beyond_ms))
            }
        }
    }

    fn sorted(&self, of: impl Fn(&Point) -> u64) -> Vec<u64> {
        let mut values: Vec<u64> = self.points.iter().map(of).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

/// Links or cells of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Ground {
    /// Description of the links or cells.
    pub about: String,
    /// Controllers by name.
    pub controllers: Vec<(String, Reached)>,
    /// References.
    pub curves: Vec<Curve>,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %, {:.1} ms", self.throughput_percent, self.beyond_ms)
    }
}

impl fmt::Display for There {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(ms) => write!(f, "{ms:.1} ms"),
            Self::AtMost(ms) => write!(f, "{ms:.1} ms or less"),
            Self::Beyond => f.write_str("-"),
        }
    }
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.about)?;
        let spans = self.curves.first().map(|curve| curve.sorted(|point| point.span_ms));
        let spans = spans.unwrap_or_default();
        let heads = spans.iter().map(|span| format!("mean of {span} ms"));
        let mut table = Table::new().left([""]).right(["room"]).right(heads);
        for curve in &self.curves {
            for room in curve.sorted(|point| point.room_ms) {
                let of = |span: &u64| {
                    let is_it = |point: &&Point| (point.room_ms, point.span_ms) == (room, *span);
                    let found = curve.points.iter().find(is_it);
                    found.map_or_else(|| "-".into(), |point| point.reached.to_string())
                };
                let cells = [format!("`{}`", curve.reference), format!("{room} ms")];
                table.row(cells.into_iter().chain(spans.iter().map(of)));
            }
        }
        table.fmt(f)?;
        for (name, reached) in &self.controllers {
            writeln!(f, "\n`{name}` has {reached}. At that throughput:")?;
            for curve in &self.curves {
                let at = |span: &u64| {
                    format!("{} by means of {span} ms", curve.at(*span, reached.throughput_percent))
                };
                let those: Vec<String> = spans.iter().map(at).collect();
                writeln!(f, "* `{}` {}", curve.reference, those.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Curve {
        let point = |room_ms, span_ms, throughput_percent, beyond_ms| Point {
            room_ms,
            span_ms,
            reached: Reached { throughput_percent, beyond_ms },
        };
        let points = vec![
            point(0, 10, 90.0, 8.0),
            point(0, 30, 97.0, 20.0),
            point(6, 10, 98.0, 16.0),
            point(6, 30, 99.0, 30.0),
        ];
        Curve { reference: "present".into(), hears: Hears::Always, points }
    }

    #[test]
    fn a_delay_at_a_throughput_is_on_the_line_between_the_rooms_around_it() {
        assert_eq!(curve().at(10, 94.0), There::At(12.0));
        assert_eq!(curve().at(10, 98.0), There::At(16.0));
        assert_eq!(curve().at(30, 94.0), There::AtMost(20.0));
        assert_eq!(curve().at(30, 99.5), There::Beyond);
    }

    #[test]
    fn a_table_has_a_row_for_each_room_and_says_where_controllers_are() {
        let reached = Reached { throughput_percent: 94.0, beyond_ms: 48.0 };
        let controllers = vec![("sounding".to_owned(), reached)];
        let ground = Ground { about: "two links".into(), controllers, curves: vec![curve()] };
        let text = ground.to_string();
        for line in [
            "| | room | mean of 10 ms | mean of 30 ms |",
            "| `present` | 0 ms | 90.0 %, 8.0 ms | 97.0 %, 20.0 ms |",
            "| `present` | 6 ms | 98.0 %, 16.0 ms | 99.0 %, 30.0 ms |",
            "`sounding` has 94.0 %, 48.0 ms. At that throughput:",
            "* `present` 12.0 ms by means of 10 ms, 20.0 ms or less by means of 30 ms",
        ] {
            assert!(text.lines().any(|found| found == line), "{line:?} is not in:\n{text}");
        }
    }
}
