use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::Figures;
use crate::experiment::Failed;

/// mahimahi's own results: for each row, one set of figures a repetition.
#[derive(Clone, Debug)]
pub struct Reference {
    rows: BTreeMap<String, Vec<Figures>>,
}

impl Reference {
    /// Reads a table of results.
    pub fn read(path: &Path) -> Result<Self, Failed> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read mahimahi's results from {}: {error}; they come with the shared data, name its folder with --data or SOUNDING_DATA", path.display()))?;
        Self::parse(&text, path)
    }

    /// The repetitions of a row; empty if the row does not exist.
    pub fn row(&self, name: &str) -> &[Figures] {
        self.rows.get(name).map_or(&[], Vec::as_slice)
    }

    /// Further results of mahimahi, for rows for which three repetitions are too few.
    pub fn supplement() -> Result<Self, Failed> {
        Self::parse(include_str!("../../../reference/mahimahi.json"), Path::new("mahimahi.json"))
    }

    /// The repetitions of both.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        for (name, figures) in more.rows {
            self.rows.entry(name).or_default().extend(figures);
        }
        self
    }

    /// The rows of such names.
    #[must_use]
    pub fn only(mut self, wanted: impl Fn(&str) -> bool) -> Self {
        self.rows.retain(|name, _| wanted(name));
        self
    }

    /// Each row with other repetitions in their place.
    #[must_use]
    pub fn map(self, each: impl Fn(Vec<Figures>) -> Vec<Figures>) -> Self {
        Self { rows: self.rows.into_iter().map(|(name, row)| (name, each(row))).collect() }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Failed> {
        let rows = serde_json::from_str(text).map_err(|error| {
            format!("{} is not a table of mahimahi's results: {error}", path.display())
        })?;
        Ok(Self { rows })
    }

    /// When the first data packet of a row arrived at the link, in each repetition; at least one.
    pub fn starts(&self, name: &str) -> Result<Vec<Duration>, Failed> {
        match self.row(name) {
            [] => Err(format!("mahimahi's results lack the row {name}").into()),
            row => Ok(row.iter().map(|figures| Duration::from_millis(figures.start_ms)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetition(start_ms: u64) -> String {
        format!(
            r#"{{"tput":1,"cap":1,"util":1,"mean":1,"p50":1,"p95":1,"p99":1,"max":1,"sig95":1,"start":{start_ms}}}"#
        )
    }

    fn reference(row: &str, start_ms: u64) -> Reference {
        let text = format!(r#"{{"{row}": [{}]}}"#, repetition(start_ms));
        Reference::parse(&text, Path::new("test")).unwrap()
    }

    #[test]
    fn repetitions_of_the_same_row_follow_one_another() {
        let both = reference("a", 230).and(reference("a", 250));
        assert_eq!(both.starts("a").unwrap(), [230, 250].map(Duration::from_millis));
    }

    #[test]
    fn another_row_stays_what_it_was() {
        let both = reference("a", 230).and(reference("b", 250));
        assert_eq!(both.row("a"), reference("a", 230).row("a"));
    }

    #[test]
    fn rows_can_be_chosen_by_name_and_repetitions_by_what_they_are() {
        let both = reference("a", 230).and(reference("b", 900));
        let chosen = both.clone().only(|name| name == "b");
        assert_eq!((chosen.row("a").len(), chosen.row("b").len()), (0, 1));
        let early = |row: Vec<Figures>| row.into_iter().filter(|of| of.start_ms < 500).collect();
        let chosen = both.map(early);
        assert_eq!((chosen.row("a").len(), chosen.row("b").len()), (1, 0));
    }

    #[test]
    fn a_row_that_neither_has_is_an_error_that_names_it() {
        let error = reference("a", 230).starts("c").unwrap_err().to_string();
        assert!(error.contains('c'), "{error}");
    }

    #[test]
    fn the_supplement_can_be_read_and_adds_to_the_row_it_is_for() {
        assert!(Reference::supplement().unwrap().row("vz-short.up.cubic").len() > 3);
    }
}
