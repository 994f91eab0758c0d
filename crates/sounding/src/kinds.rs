//! Records of one code and version, by how much of them is read.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use sounding_diag::record::{Coverage, RecordCounts, RecordError, Version};
use sounding_diag::{LogCode, LogRecord};

/// Records of one code and version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kind {
    pub(crate) counts: RecordCounts,
    pub(crate) bytes: u64,
    /// Sub-packets and kinds of message that are not described, in order, the first few of them.
    missing: BTreeSet<Version>,
    has_more: bool,
}

impl Kind {
    pub(crate) fn handle_record(
        &mut self,
        record: &LogRecord<'_>,
        outcome: Result<Coverage, &RecordError>,
    ) {
        self.bytes += record.body.len() as u64;
        self.counts.handle(outcome);
        match outcome {
            Ok(Coverage::Partly(missing)) => self.handle_missing(missing),
            Err(&RecordError::Unsupported { version, .. }) => self.handle_missing(version),
            _ => {}
        }
    }

    fn handle_missing(&mut self, missing: Version) {
        /// A capture of nonsense has thousands.
        const MOST: usize = 8;
        if matches!(missing, Version::Packet(_)) || self.missing.contains(&missing) {
            return;
        }
        self.has_more |= self.missing.len() == MOST;
        if self.missing.len() < MOST {
            self.missing.insert(missing);
        }
    }

    /// What is not described, in words.
    fn missing(&self) -> Vec<String> {
        let more = self.has_more.then(|| "others".to_owned());
        self.missing.iter().map(Version::to_string).chain(more).collect()
    }

    pub(crate) fn without(&self) -> String {
        let missing = self.missing();
        if missing.is_empty() {
            return String::new();
        }
        format!(", not described: {}", missing.join(", "))
    }

    /// The same for programs.
    pub(crate) fn json(&self, code: LogCode, version: Option<u32>) -> Json {
        json!({
            "code": code.to_string(), "version": version, "name": code.name(),
            "decoded": self.counts.whole, "in_part": self.counts.partly,
            "longer": self.counts.longer, "unsupported": self.counts.unknown(),
            "corrupt": self.counts.corrupt, "bytes": self.bytes,
            "not_described": self.missing(),
        })
    }
}
