//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_shape::autorate::{Imported, import};
use sounding_units::Rate;

/// Any bytes are no configuration of cake-autorate, or they become TOML with nothing in it but
/// names and rates, and remarks that are safe to print.
pub(crate) fn autorate(data: &[u8]) -> Option<Imported> {
    let text = String::from_utf8_lossy(data);
    let imported = import(&text)?;
    let lines = text.split('\n').count();
    for remark in &imported.remarks {
        assert!((1..=lines).contains(&remark.line) && (remark.line..=lines).contains(&remark.last));
        let said = remark.to_string();
        assert!(said.len() < 300 && !said.contains(char::is_control), "{said:?}");
    }
    assert!(imported.remarks.is_sorted_by_key(|remark| remark.line));
    assert!(!imported.toml.contains(|c: char| c.is_control() && c != '\n'), "{}", imported.toml);

    let toml: toml::Table = imported.toml.parse().expect("TOML");
    assert_eq!(toml.keys().collect::<Vec<_>>(), ["shape"]);
    let shape = toml["shape"].as_table().expect("a section");
    assert_eq!(shape["manage"].as_bool(), Some(false));
    let is_whole = !imported.remarks.iter().any(|remark| remark.what.is_fault());
    for direction in ["uplink", "downlink"] {
        let Some(section) = shape.get(direction) else { continue };
        let rate = |name| Some(section.get(name)?.as_str()?.parse::<Rate>().expect("a rate"));
        let limits = ["min", "base", "max"].map(rate);
        let device = section.get("device").map(|name| name.as_str().expect("a text").len());
        assert!(device.is_none_or(|len| (1..=15).contains(&len)));
        if is_whole {
            assert!(device.is_some() && limits[0] > Some(Rate::ZERO) && limits.is_sorted());
        }
    }

    // A line above it moves every line, and changes nothing else.
    if !text.starts_with('\u{FEFF}') {
        let below = import(&format!("\n{text}")).expect("a configuration");
        assert_eq!((below.mapped, below.remarks.len()), (imported.mapped, imported.remarks.len()));
        let pairs = below.remarks.iter().zip(&imported.remarks);
        assert!(pairs.into_iter().all(|(below, remark)| below.line == remark.line + 1));
    }
    Some(imported)
}
