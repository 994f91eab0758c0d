//! Public traces to compare with: the index that lies beside them.

use std::fs;
use std::io;
use std::path::Path;

use super::scenario::Rat;
use super::statistics::Figures;

/// The traces of an index (`traces/files.tsv`) that are of LTE or of NR below 6 GHz, and what the index says of them; the
/// way is `up` or `down`.
pub fn real(data: &Path) -> io::Result<Vec<(Rat, bool, &'static str, Figures)>> {
    let text = fs::read_to_string(data.join("traces/files.tsv"))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| {
        names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| io::Error::other(format!("traces/files.tsv has no column {name}")))
    };
    let columns = ["rat", "mobility", "dir", "mean_mbps", "p5", "p95"];
    let columns: Vec<usize> = columns.iter().map(|name| column(name)).collect::<Result<_, _>>()?;
    let figures = lines.filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |at: usize| cells.get(columns[at]).copied();
        let rat = network(cell(0)?)?;
        let mobile = !cell(1)?.contains("static");
        // Video that is watched does not fill a link.
        let way = match cell(2)? {
            "up" => "up",
            "down" | "down(Download)" | "down/server-logged" => "down",
            _ => return None,
        };
        let number = |at: usize| cell(at)?.parse::<f64>().ok();
        let mean = number(3).filter(|mean| *mean > 0.0)?;
        let (low, high) = (number(4)? / mean, number(5)? / mean);
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

/// BISCAY Table 2: what two flows of its controller carried together on average over its traces, mobile and static,
/// Mbit/s. The nearest that the paper comes to the mean of its traces.
pub const BISCAY_MOBILE: f64 = 2.0 * 12.76;
/// See [`BISCAY_MOBILE`].
pub const BISCAY_STATIC: f64 = 2.0 * 8.89;
