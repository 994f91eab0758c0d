//! Counts the skipped parts of a capture, and the requested parts that it lacks. Every command that
//! reads captures reports them once and in the same way.

use serde_json::{Map, Value as Json, json};
use sounding_diag::capture::Counts;
use sounding_diag::record::RecordCounts;
use sounding_export::messages::NO_NAS;

/// The parts of a capture that are not in the command's output.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    /// The capture or port, as the user named it.
    pub(crate) name: String,
    /// It is a file, which can be read again.
    pub(crate) is_file: bool,
    pub(crate) stream: Counts,
    /// The unpacker's error for a packed file that is damaged or cut.
    pub(crate) packing: Option<String>,
    pub(crate) records: Records,
    /// Records that a daemon dropped because this reader was too slow.
    pub(crate) dropped: u64,
    /// Requested names that do not occur in the capture.
    pub(crate) absent: Vec<Absent>,
}

/// A requested name that does not occur in a capture.
#[derive(Debug)]
pub(crate) struct Absent {
    /// The name.
    pub(crate) name: String,
    /// Why it is absent, if more is known.
    pub(crate) because: Option<String>,
}

/// Records that came whole out of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Records {
    /// How much of them was read.
    pub(crate) read: RecordCounts,
    /// The number of records whose version lacks the requested fields.
    pub(crate) lacking: u64,
    /// They have no time.
    pub(crate) untimed: u64,
    /// Their time is far from that of the records around them.
    pub(crate) misdated: u64,
    /// They are read, but not their NAS messages, for which this build has no decoder.
    pub(crate) without_nas: u64,
}

impl From<RecordCounts> for Records {
    fn from(read: RecordCounts) -> Self {
        Self { read, ..Self::default() }
    }
}

impl Skipped {
    /// Reports on standard error, which carries no data. Silent if nothing was skipped and nothing
    /// is absent.
    pub(crate) fn tell(&self) {
        self.tell_after(None);
    }

    /// As [`tell`](Self::tell), but only for absent parts.
    pub(crate) fn tell_absent(&self) {
        if let Some(nowhere) = self.nowhere() {
            eprintln!("sounding: {}: {nowhere}", self.name);
        }
    }

    /// As [`tell`](Self::tell), after another sentence about the capture, in one line.
    pub(crate) fn tell_after(&self, first: Option<String>) {
        if let Some(sentence) = self.sentence(first) {
            eprintln!("sounding: {sentence}");
        }
    }

    fn sentence(&self, first: Option<String>) -> Option<String> {
        let clauses = [first, self.nowhere(), self.not_read(), self.doubtful(), self.not_decoded()];
        let clauses: Vec<String> = clauses.into_iter().flatten().collect();
        (!clauses.is_empty()).then(|| format!("{}: {}", self.name, clauses.join("; ")))
    }

    /// The sentence about absent names.
    fn nowhere(&self) -> Option<String> {
        let names = self.absent.iter().map(|Absent { name, because }| match because {
            Some(because) => format!("{name} ({because})"),
            None => name.clone(),
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| format!("nowhere in it: {}", names.join(", ")))
    }

    /// The sentence about skipped parts, with the place of the first, and the way to see more.
    fn not_read(&self) -> Option<String> {
        let parts = self.parts();
        if parts.is_empty() {
            return None;
        }
        let mut text = format!("not read: {}", parts.join(", "));
        if let Some(first) = self.first() {
            text += &format!("; the first: {first}");
        }
        if self.is_file && cfg!(feature = "lab") {
            text += &format!("; `sounding decode {} --summary` shows more", self.name);
        }
        Some(text)
    }

    /// The sentence about records whose output has less than the capture.
    fn doubtful(&self) -> Option<String> {
        let RecordCounts { partly, longer, .. } = self.records.read;
        let partly = (partly > 0).then(|| counted(partly, "record in part", "records in part"));
        let longer = (longer > 0).then(|| {
            let [one, many] = ["record longer than its layout", "records longer than their layout"];
            counted(longer, one, many)
        });
        let parts: Vec<String> = [partly, longer].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("read: {}", parts.join(", ")))
    }

    /// The sentence about messages for which this build has no decoder.
    fn not_decoded(&self) -> Option<String> {
        let count = self.records.without_nas;
        let messages = counted(count, "NAS message", "NAS messages");
        (count > 0).then(|| format!("not decoded: {messages} ({NO_NAS})"))
    }

    /// The kept places of damage, one line each.
    pub(crate) fn places(&self) -> Vec<String> {
        let first = self.first().map(|first| format!("first damage: {first}"));
        let cut = self.stream.cut_at.map(|offset| {
            let bytes = counted(self.stream.cut_bytes, "byte", "bytes");
            format!("the end cuts off the frame at offset {offset} ({bytes})")
        });
        let packing =
            self.packing.as_ref().map(|error| format!("the packed file is damaged: {error}"));
        [first, cut, packing].into_iter().flatten().collect()
    }

    /// The count of each kind, in a few words.
    fn parts(&self) -> Vec<String> {
        let Self { stream, packing, records, dropped, .. } = self;
        let cut = u64::from(stream.cut_at.is_some());
        let mut parts = Vec::new();
        let mut put = |count, one: &str, many: &str| {
            if count > 0 {
                parts.push(counted(count, one, many));
            }
        };
        put(stream.damaged() - cut, "corrupt frame", "corrupt frames");
        put(records.read.corrupt, "corrupt record", "corrupt records");
        let late = "that the daemon dropped because this reader was too slow";
        put(*dropped, &format!("record {late}"), &format!("records {late}"));
        let undescribed = "of unknown codes or versions";
        put(
            records.read.unknown(),
            &format!("record {undescribed}"),
            &format!("records {undescribed}"),
        );
        let lacking = "of versions without what was asked for";
        put(records.lacking, &format!("record {lacking}"), &format!("records {lacking}"));
        put(records.untimed, "record without a time", "records without a time");
        let misdated = "with a time far from the others'";
        put(records.misdated, &format!("record {misdated}"), &format!("records {misdated}"));
        if let Some(offset) = stream.cut_at {
            let bytes = counted(stream.cut_bytes, "byte", "bytes");
            parts.push(format!("the frame that the end cuts off at offset {offset} ({bytes})"));
        }
        if let Some(error) = packing {
            parts.push(format!("the rest of the packed file ({error})"));
        }
        parts.extend(padding(stream));
        parts
    }

    /// The place of the first damage, if no other part of the sentence names it.
    fn first(&self) -> Option<String> {
        let first = self.stream.first_damage?;
        (Some(first.offset()) != self.stream.cut_at).then(|| first.to_string())
    }

    /// The same for programs; `None` if nothing was skipped and nothing is absent.
    pub(crate) fn json(&self) -> Option<Json> {
        let mut line = Map::new();
        if !self.parts().is_empty() || self.doubtful().is_some() {
            line.insert("skipped".into(), self.numbers());
        }
        if !self.absent.is_empty() {
            line.insert("absent".into(), self.absent_names());
        }
        (!line.is_empty()).then_some(Json::Object(line))
    }

    /// The names that are absent.
    pub(crate) fn absent_names(&self) -> Json {
        self.absent.iter().map(|absent| absent.name.as_str()).collect()
    }

    /// The numbers, zeros too.
    pub(crate) fn numbers(&self) -> Json {
        let Self { name, stream, packing, records, dropped, .. } = self;
        let first = stream
            .first_damage
            .map(|damage| json!({ "offset": damage.offset(), "reason": damage.to_string() }));
        json!({
            "capture": name,
            "corrupt_frames": stream.damaged(),
            "first_damage": first,
            "cut_at": stream.cut_at,
            "cut_bytes": stream.cut_bytes,
            "padding_bytes": stream.frames.padding,
            "packing": packing,
            "corrupt_records": records.read.corrupt,
            "dropped_records": dropped,
            "undescribed_records": records.read.unknown(),
            "partly_read_records": records.read.partly,
            "longer_records": records.read.longer,
            "lacking_records": records.lacking,
            "untimed_records": records.untimed,
            "misdated_records": records.misdated,
        })
    }
}

/// How many records are not read, or not all of them, in words.
pub(crate) fn left(counts: &RecordCounts) -> String {
    format!(
        "{} of unknown versions, {} corrupt, {} read in part, {} longer than their layout",
        counts.unknown(),
        counts.corrupt,
        counts.partly,
        counts.longer
    )
}

/// The parts of a stream that gave no packet, in words.
pub(crate) fn damage(stream: &Counts) -> String {
    let frames = counted(stream.damaged(), "corrupt frame", "corrupt frames");
    [Some(frames), padding(stream)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn padding(stream: &Counts) -> Option<String> {
    let bytes = stream.frames.padding;
    (bytes > 0)
        .then(|| counted(bytes, "byte of padding before a frame", "bytes of padding before frames"))
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
            frames: FrameCounts { bytes: 100, good: 3, bad, padding: 0 },
            first_damage: (bad > 0).then_some(Damage::Frame(BadFrame {
                offset: first,
                len: 2,
                reason,
            })),
            cut_at,
            cut_bytes: if cut_at.is_some() { 2 } else { 0 },
            ..Counts::default()
        }
    }

    fn sentence(stream: Counts, records: Records) -> Option<String> {
        let name = "a.qmdl".into();
        Skipped { name, is_file: true, stream, records, ..Skipped::default() }.sentence(None)
    }

    /// Only the whole program has the verb.
    const MORE: &str =
        if cfg!(feature = "lab") { "; `sounding decode a.qmdl --summary` shows more" } else { "" };

    #[test]
    fn one_is_singular_and_nothing_is_silence() {
        let none = Records::default();
        assert_eq!(sentence(stream(0, None, 0), none), None);
        assert_eq!(
            sentence(stream(1, None, 7), none),
            Some(format!(
                "a.qmdl: not read: 1 corrupt frame; the first: frame of 2 bytes at offset 7: too short for a payload and its \
                 check{MORE}"
            ))
        );
        assert_eq!(
            sentence(
                stream(1, Some(9), 9),
                Records {
                    read: RecordCounts {
                        undescribed: 1,
                        unsupported: 1,
                        corrupt: 1,
                        ..RecordCounts::default()
                    },
                    lacking: 1,
                    untimed: 2,
                    misdated: 1,
                    without_nas: 0,
                }
            ),
            Some(format!(
                "a.qmdl: not read: 1 corrupt record, 2 records of unknown codes or versions, 1 record of \
                 versions without what was asked for, 2 records without a time, 1 record with a time far from the others', \
                 the frame that the end cuts off at offset 9 (2 bytes){MORE}"
            ))
        );
        let both = sentence(stream(3, Some(9), 7), none).expect("something");
        assert!(both.contains("2 corrupt frames, the frame that the end cuts off"), "{both}");
        assert!(both.contains("the first: frame of 2 bytes at offset 7"), "{both}");
    }

    #[test]
    fn records_that_are_read_in_part_or_are_longer_are_no_corrupt_ones() {
        let read = RecordCounts { whole: 5, partly: 1, longer: 2, ..RecordCounts::default() };
        assert_eq!(
            sentence(stream(0, None, 0), read.into()).as_deref(),
            Some("a.qmdl: read: 1 record in part, 2 records longer than their layout")
        );
        let skipped = Skipped { records: read.into(), ..Skipped::default() };
        let numbers = &skipped.json().expect("something")["skipped"];
        assert_eq!(
            (&numbers["partly_read_records"], &numbers["longer_records"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(
            (&numbers["corrupt_records"], &numbers["undescribed_records"]),
            (&json!(0), &json!(0))
        );
        assert_eq!(
            sentence(stream(0, None, 0), RecordCounts { partly: 0, longer: 0, ..read }.into()),
            None
        );
    }

    #[test]
    fn a_build_without_the_nas_decoder_names_it_once() {
        let records = Records { without_nas: 3, ..Records::default() };
        assert_eq!(
            sentence(stream(0, None, 0), records).as_deref(),
            Some(
                "a.qmdl: not decoded: 3 NAS messages (this build has no NAS decoder: build with the default features)"
            )
        );
    }

    #[test]
    fn json_has_the_same_numbers() {
        let skipped = Skipped { stream: stream(3, Some(9), 7), ..Skipped::default() };
        assert!(!skipped.sentence(None).expect("something").contains("--summary"), "it is no file");
        let told = skipped.json().expect("something");
        assert_eq!(told["skipped"]["corrupt_frames"], 3);
        assert_eq!(told["skipped"]["cut_at"], 9);
        assert_eq!(told["skipped"]["cut_bytes"], 2);
        assert_eq!(told["skipped"]["first_damage"]["offset"], 7);
        assert_eq!(Skipped::default().json(), None);
    }

    #[test]
    fn what_is_nowhere_is_said_before_what_was_not_read() {
        let absent = |name: &str, because: Option<&str>| Absent {
            name: name.into(),
            because: because.map(Into::into),
        };
        let skipped = Skipped {
            name: "a.qmdl".into(),
            absent: vec![absent("lte.cell.rsrp", Some("no record 0xB193")), absent("0xB0C1", None)],
            ..Skipped::default()
        };
        assert_eq!(
            skipped.sentence(Some("3 records written".into())).as_deref(),
            Some(
                "a.qmdl: 3 records written; nowhere in it: lte.cell.rsrp (no record 0xB193), 0xB0C1"
            )
        );
        assert_eq!(skipped.json(), Some(json!({ "absent": ["lte.cell.rsrp", "0xB0C1"] })));
    }
}
