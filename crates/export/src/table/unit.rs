//! Units of columns.

use sounding_kpi::registry::{NamedKpi, Unit};

/// The ends of names that are units.
const ENDS: [(&str, &str); 11] = [
    ("bytes", "B"),
    ("bits", "bit"),
    ("dbm", "dBm"),
    ("db", "dB"),
    ("ms", "ms"),
    ("us", "us"),
    ("ns", "ns"),
    ("khz", "kHz"),
    ("mhz", "MHz"),
    ("hz", "Hz"),
    ("rbs", "RB"),
];

/// The unit of a field, by the end of its name: `tb_bytes`.
pub(super) fn of_field(name: &str) -> Option<&'static str> {
    let end = name.rsplit_once('_').map_or(name, |(_, end)| end);
    match name {
        // A part of a number.
        "frame_high_bits" => None,
        "t_reselection_s" => Some("s"),
        "prioritised_kbytes_per_sec" => Some("kB/s"),
        _ => ENDS.iter().find(|(unit, _)| end == *unit).map(|(_, unit)| *unit),
    }
}

/// Whether sums of a KPI mean something.
pub(super) fn is_summed(kpi: &NamedKpi) -> bool {
    matches!(kpi.unit, Unit::Bytes | Unit::Bits | Unit::Prb | Unit::Count)
}

/// Whether all values of a KPI are whole numbers.
pub(super) fn is_whole(kpi: &NamedKpi) -> bool {
    is_summed(kpi) || matches!(kpi.unit, Unit::Index | Unit::Flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_is_its_unit() {
        assert_eq!(of_field("tb_bytes"), Some("B"));
        assert_eq!(of_field("rsrp_rx0_dbm"), Some("dBm"));
        assert_eq!(of_field("prioritised_kbytes_per_sec"), Some("kB/s"));
        assert_eq!(of_field("rbs"), Some("RB"));
        assert_eq!(of_field("frame"), None);
    }
}
