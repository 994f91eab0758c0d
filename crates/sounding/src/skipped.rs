//! What of a capture was passed over: counted, and said once and in one way by every verb that reads captures.

use serde_json::{Value as Json, json};
use sounding_diag::capture::Counts;
use sounding_diag::record::RecordError;

/// What of a capture did not become what the verb gives.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    /// The capture or port, as it was named.
    pub(crate) name: String,
    /// It is a file, which can be looked into once more.
    pub(crate) is_file: bool,
    pub(crate) stream: Counts,
    /// What the unpacker says of a packed file that is damaged or cut.
    pub(crate) packing: Option<String>,
    pub(crate) records: Records,
}

/// Records that came whole out of the stream and cannot be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Records {
    /// Of codes and versions that nobody has described.
    pub(crate) undescribed: u64,
    /// Of versions that lack what was asked for.
    pub(crate) lacking: u64,
    /// Their bytes do not fit their description.
    pub(crate) corrupt: u64,
}

impl Records {
    /// Counts a record that was not read.
    pub(crate) fn handle(&mut self, error: &RecordError) {
        *match error {
            RecordError::Undescribed { .. } | RecordError::Unsupported { .. } => {
                &mut self.undescribed
            }
            RecordError::Corrupt { .. } => &mut self.corrupt,
        } += 1;
    }
}

impl Skipped {
    /// On standard error, where what is read does not go; nothing where nothing was skipped.
    pub(crate) fn tell(&self) {
        if let Some(sentence) = self.sentence() {
            eprintln!("sounding: {sentence}");
        }
    }

    /// What was skipped, where the first of it was, and how to see more.
    fn sentence(&self) -> Option<String> {
        let parts = self.parts();
        if parts.is_empty() {
            return None;
        }
        let mut text = format!("{}: not read: {}", self.name, parts.join(", "));
        if let Some(first) = self.first() {
            text += &format!("; the first: {first}");
        }
        if self.is_file {
            text += &format!("; `sounding decode {} --summary` shows more", self.name);
        }
        Some(text)
    }

    /// Where damage is, as far as it was kept: a line each.
    pub(crate) fn places(&self) -> Vec<String> {
        let first = self.first().map(|first| format!("first damage: {first}"));
        let cut = self
            .stream
            .cut_at
            .map(|offset| format!("the end cuts off the frame at offset {offset}"));
        let packing =
            self.packing.as_ref().map(|error| format!("the packed file is damaged: {error}"));
        [first, cut, packing].into_iter().flatten().collect()
    }

    /// How many of which kind, each as a few words.
    fn parts(&self) -> Vec<String> {
        let Self { stream, packing, records, .. } = self;
        let cut = u64::from(stream.cut_at.is_some());
        let mut parts = Vec::new();
        let mut put = |count, one: &str, many: &str| {
            if count > 0 {
                parts.push(counted(count, one, many));
            }
        };
        put(stream.damaged() - cut, "corrupt frame", "corrupt frames");
        put(records.corrupt, "corrupt record", "corrupt records");
        let undescribed = "of codes or versions that nobody has described";
        put(
            records.undescribed,
            &format!("record {undescribed}"),
            &format!("records {undescribed}"),
        );
        let lacking = "of versions without what was asked for";
        put(records.lacking, &format!("record {lacking}"), &format!("records {lacking}"));
        if let Some(offset) = stream.cut_at {
            parts.push(format!("the frame that the end cuts off at offset {offset}"));
        }
        if let Some(error) = packing {
            parts.push(format!("the rest of the packed file ({error})"));
        }
        parts
    }

    /// The first damage, where no part says its place already.
    fn first(&self) -> Option<String> {
        let first = self.stream.first_damage?;
        (Some(first.offset()) != self.stream.cut_at).then(|| first.to_string())
    }

    /// The same numbers for programs; nothing where nothing was skipped.
    pub(crate) fn json(&self) -> Option<Json> {
        (!self.parts().is_empty()).then(|| json!({ "skipped": self.numbers() }))
    }

    /// The numbers, zeros too.
    pub(crate) fn numbers(&self) -> Json {
        let Self { name, stream, packing, records, .. } = self;
        let first = stream
            .first_damage
            .map(|damage| json!({ "offset": damage.offset(), "reason": damage.to_string() }));
        json!({
            "capture": name,
            "corrupt_frames": stream.damaged(),
            "first_damage": first,
            "cut_at": stream.cut_at,
            "packing": packing,
            "corrupt_records": records.corrupt,
            "undescribed_records": records.undescribed,
            "lacking_records": records.lacking,
        })
    }
}

/// A number of things in words: `1 frame`, `2 frames`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_diag::capture::Damage;
    use sounding_diag::hdlc::{BadFrame, BadFrameReason, FrameCounts};

    fn stream(bad: u64, cut_at: Option<u64>, first: u64) -> Counts {
        let reason = match cut_at {
            Some(at) if at == first => BadFrameReason::Unterminated,
            _ => BadFrameReason::Short,
        };
        Counts {
            frames: FrameCounts { bytes: 100, good: 3, bad },
            first_damage: (bad > 0).then_some(Damage::Frame(BadFrame {
                offset: first,
                len: 2,
                reason,
            })),
            cut_at,
            ..Counts::default()
        }
    }

    fn sentence(stream: Counts, records: Records) -> Option<String> {
        Skipped { name: "a.qmdl".into(), is_file: true, stream, packing: None, records }.sentence()
    }

    #[test]
    fn one_is_singular_and_nothing_is_silence() {
        let none = Records::default();
        assert_eq!(sentence(stream(0, None, 0), none), None);
        assert_eq!(
            sentence(stream(1, None, 7), none).as_deref(),
            Some(
                "a.qmdl: not read: 1 corrupt frame; the first: frame of 2 bytes at offset 7: too short for a payload and its \
                 check; `sounding decode a.qmdl --summary` shows more"
            )
        );
        assert_eq!(
            sentence(stream(1, Some(9), 9), Records { undescribed: 2, lacking: 1, corrupt: 1 })
                .as_deref(),
            Some(
                "a.qmdl: not read: 1 corrupt record, 2 records of codes or versions that nobody has described, 1 record of \
                 versions without what was asked for, the frame that the end cuts off at offset 9; \
                 `sounding decode a.qmdl --summary` shows more"
            )
        );
        let both = sentence(stream(3, Some(9), 7), none).expect("something");
        assert!(both.contains("2 corrupt frames, the frame that the end cuts off"), "{both}");
        assert!(both.contains("the first: frame of 2 bytes at offset 7"), "{both}");
    }

    #[test]
    fn programs_are_told_the_same_numbers() {
        let skipped = Skipped { stream: stream(3, Some(9), 7), ..Skipped::default() };
        assert!(!skipped.sentence().expect("something").contains("--summary"), "it is no file");
        let told = skipped.json().expect("something");
        assert_eq!(told["skipped"]["corrupt_frames"], 3);
        assert_eq!(told["skipped"]["cut_at"], 9);
        assert_eq!(told["skipped"]["first_damage"]["offset"], 7);
        assert_eq!(Skipped::default().json(), None);
    }
}
