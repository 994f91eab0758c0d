//! The origin of a figure.

use std::fmt;

use sounding_experiment::provenance::Provenance;

/// The origin of a figure, for its caption and its data file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The command that made the results.
    pub command: String,
    /// The commit of the program that made them.
    pub commit: String,
    /// The seeds of the runs; empty without seeds.
    pub seeds: String,
    /// The machine, or why it does not matter.
    pub machine: String,
}

impl Origin {
    /// For an experiment that has just ended.
    pub fn of(provenance: &Provenance, seeds: impl Into<String>) -> Self {
        Self {
            command: provenance.command.clone(),
            commit: provenance.commit.clone(),
            seeds: seeds.into(),
            machine: provenance.machine.clone(),
        }
    }

    /// Name and value of each part that is known.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("command", self.command.as_str()),
            ("commit", &self.commit),
            ("seed", &self.seeds),
            ("machine", &self.machine),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.pairs().enumerate() {
            let between = if at == 0 { "" } else { " · " };
            write!(f, "{between}{name} {value}")?;
        }
        Ok(())
    }
}
