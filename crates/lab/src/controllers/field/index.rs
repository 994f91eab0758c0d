//! The recorded links, from their index.

use std::fmt;
use std::io;
use std::path::Path;

use serde::Serialize;
use sounding_experiment::catalogue;

/// A generation of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Generation {
    /// UMTS, HSPA and EV-DO.
    #[serde(rename = "3G")]
    Third,
    /// LTE.
    #[serde(rename = "4G")]
    Fourth,
    /// NR, most of the time.
    #[serde(rename = "5G")]
    Fifth,
}

/// Links that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Group {
    /// Generation of the network.
    pub generation: Generation,
    /// Whether the device moved.
    pub mobile: bool,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generation = match self.generation {
            Generation::Third => "3G",
            Generation::Fourth => "4G",
            Generation::Fifth => "5G",
        };
        write!(f, "{generation} {}", if self.mobile { "mobile" } else { "static" })
    }
}

/// A recorded link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// From the folder of the index on.
    pub file: String,
    /// Its kind.
    pub group: Group,
    /// Whether it carries hundreds of Mbit/s, which take as long to simulate as dozens of others.
    pub is_fast: bool,
}

/// Existing recordings of saturated links, in the order of the index: packet deliveries of
/// mahimahi, series of Mbit/s per second (Lumos5G, Norway's HSDPA) and downloads that G-NetTrack
/// logged. Not used are synthetic ones, watched videos, which do not fill a link, and throughput of
/// iperf's TCP, which may be less than the link's capacity.
pub fn links(data: &Path) -> io::Result<Vec<Link>> {
    let folder = data.join("traces");
    let rows = catalogue::rows(data, ["file", "format", "rat", "mobility", "dir", "mean_mbps"])?;
    let links = rows.into_iter().filter_map(|[file, format, rat, mobility, way, mean]| {
        let fills = match format.as_str() {
            "mm" | "t(s) Mbps" => true,
            _ => format.starts_with("G-NetTrack") && way == "down(Download)",
        };
        let group = Group { generation: generation(&rat)?, mobile: !mobility.contains("static") };
        let is_fast = mean.parse::<f64>().is_ok_and(|mean| mean > FAST_MBIT);
        (fills && folder.join(&file).is_file()).then_some(Link { file, group, is_fast })
    });
    Ok(links.collect())
}

/// Above all LTE and below all millimetre waves.
const FAST_MBIT: f64 = 130.0;

/// By the network that the index names first, where most of the time was spent.
fn generation(rat: &str) -> Option<Generation> {
    let first = rat.split([' ', '/']).next()?;
    Some(match first {
        "EVDO" | "UMTS" | "HSDPA" | "HSPA+" | "3G" => Generation::Third,
        "LTE" => Generation::Fourth,
        "5G" | "NR" | "mmWave" => Generation::Fifth,
        _ => return None,
    })
}
