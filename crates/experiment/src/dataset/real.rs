//! Public traces for comparison, and their index.

use std::io;
use std::path::Path;

use super::scenario::Rat;
use super::statistics::Figures;
use crate::catalogue;

/// The traces of an index (`traces/files.tsv`) that are of LTE or of NR below 6 GHz, with the
/// index's fields; the direction is `up` or `down`.
///
/// # Errors
///
/// The kernel's error, if the index cannot be read; another if it is no text or lacks a column.
pub fn real(data: &Path) -> io::Result<Vec<(Rat, bool, &'static str, Figures)>> {
    let rows = catalogue::rows(data, ["rat", "mobility", "dir", "mean_mbps", "p5", "p95"])?;
    let figures = rows.into_iter().filter_map(|[rat, mobility, way, mean, low, high]| {
        let rat = network(&rat)?;
        let mobile = !mobility.contains("static");
        // Video that is watched does not fill a link.
        let way = match way.as_str() {
            "up" => "up",
            "down" | "down(Download)" | "down/server-logged" => "down",
            _ => return None,
        };
        let number = |cell: String| cell.parse::<f64>().ok();
        let mean = number(mean).filter(|mean| *mean > 0.0)?;
        let (low, high) = (number(low)? / mean, number(high)? / mean);
        Some((rat, mobile, way, Figures { mean, low, high }))
    });
    Ok(figures.collect())
}

fn network(text: &str) -> Option<Rat> {
    if text.contains("mmWave") {
        return None;
    }
    match text.get(..2)? {
        "LT" => Some(Rat::Lte),
        "5G" | "NR" => Some(Rat::Nr),
        _ => None,
    }
}

/// BISCAY Table 2: what two flows of its controller carried together on average over its traces,
/// mobile and static, Mbit/s. The paper does not give the mean of its traces; this is the nearest
/// value.
pub const BISCAY_MOBILE: f64 = 2.0 * 12.76;
/// [`BISCAY_MOBILE`] of static traces, Mbit/s.
pub const BISCAY_STATIC: f64 = 2.0 * 8.89;
