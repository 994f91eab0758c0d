//! What was asked for, and the files of a dataset.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sounding_diag::LogCode;
use sounding_export::privacy::Privacy;
use sounding_host::files::Access;

use crate::VERSION;
use crate::error::{FleetError, read};
use crate::walk::DATASET;

/// What goes into a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Choice {
    sounding: String,
    /// The folder of all captures, to which paths belong.
    pub(crate) captures: String,
    redact: bool,
    /// Only these codes; all if there are none.
    codes: Vec<String>,
}

impl Choice {
    /// Records of these codes, or of all if there are none.
    pub fn new(privacy: Privacy, codes: &[u16]) -> Self {
        let mut codes = codes.to_vec();
        codes.sort_unstable();
        codes.dedup();
        let codes = codes.into_iter().map(|code| LogCode::new(code).to_string()).collect();
        let captures = String::new();
        Self { sounding: VERSION.into(), captures, redact: privacy == Privacy::Redact, codes }
    }

    pub(crate) fn privacy(&self) -> Privacy {
        if self.redact { Privacy::Redact } else { Privacy::Expose }
    }

    /// The users who may read the dataset.
    pub(crate) fn access(&self) -> Access {
        if self.redact { Access::Usual } else { Access::Private }
    }

    pub(crate) fn wants(&self, code: LogCode) -> bool {
        self.codes.is_empty() || self.codes.contains(&code.to_string())
    }

    /// The first difference to the dataset that is there: its name, there, and asked for.
    pub(crate) fn differs(&self, there: &Self) -> Option<(&'static str, String, String)> {
        let words = |redact| if redact { "hidden" } else { "shown" }.to_owned();
        let codes = |codes: &[String]| match codes {
            [] => "all".to_owned(),
            codes => codes.join(","),
        };
        if self.sounding != there.sounding {
            return Some(("version of this program", there.sounding.clone(), VERSION.into()));
        }
        if self.captures != there.captures {
            return Some(("folder of captures", there.captures.clone(), self.captures.clone()));
        }
        if self.redact != there.redact {
            return Some(("choice of identities", words(there.redact), words(self.redact)));
        }
        let differs = self.codes != there.codes;
        differs.then(|| ("choice of codes", codes(&there.codes), codes(&self.codes)))
    }
}

/// Files of a dataset.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(crate) out: PathBuf,
    pub(crate) about: PathBuf,
}

impl Paths {
    pub(crate) fn of(out: &Path) -> Self {
        Self { out: out.into(), about: out.join("_about") }
    }

    pub(crate) fn dataset(&self) -> PathBuf {
        self.out.join(DATASET)
    }

    pub(crate) fn block(&self, block: u32) -> PathBuf {
        self.about.join(format!("blocks/{block:05}.jsonl"))
    }

    pub(crate) fn batch(&self, number: usize) -> PathBuf {
        self.about.join(format!("found-{number:04}.jsonl"))
    }

    /// Lists of found files, in the order of the runs.
    pub(crate) fn batches(&self) -> Result<Vec<PathBuf>, FleetError> {
        let all = (0..).map(|number| self.batch(number));
        Ok(all.take_while(|path| path.exists()).collect())
    }

    pub(crate) fn choice(&self) -> Result<Choice, FleetError> {
        let path = self.dataset();
        let text = fs::read(&path).map_err(read(&path))?;
        serde_json::from_slice(&text).map_err(|source| FleetError::Damaged {
            path,
            line: 1,
            source,
        })
    }
}
