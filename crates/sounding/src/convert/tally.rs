//! Counts of a conversion: written items, and items left out, with reasons.

use std::collections::BTreeMap;

use sounding_diag::capture::EmitError;
use sounding_diag::record::RecordCounts;
use sounding_export::message::{Channel, Without};

use crate::skipped::counted;

/// Counts of a capture's packets by result. Each packet counts once, except that hidden packets
/// also count as written.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// In the file.
    pub(super) written: u64,
    /// Of these, packets with only kind, time and length in the file, because their content may
    /// identify a person.
    pub(super) blank: u64,
    /// Of these, messages without the number of their carrier, for which there is no room.
    pub(super) without_carrier: u64,
    pub(super) left_out: LeftOut,
    /// Records by how much of them is read.
    pub(super) read: RecordCounts,
}

/// Packets that are not in the file.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// They may identify a person.
    pub(super) hidden: u64,
    /// They are no log records, for which the kind of file has no place.
    pub(super) others: u64,
    /// Packets of other codes than the requested ones. If codes were requested, also packets that
    /// are not log records.
    pub(super) unwanted: u64,
    /// They carry no message, and the file is one of messages.
    pub(super) without_message: u64,
    /// The kind of file has no place for their message: how many of each kind of message.
    pub(super) no_place: BTreeMap<String, u64>,
    /// They carry a part of a message.
    pub(super) parts: u64,
    /// Packets longer than the format allows.
    pub(super) too_long: u64,
}

impl Tally {
    /// Counts a record that gives no message.
    pub(super) fn handle_without(&mut self, without: &Without) {
        match without {
            Without::Message => self.left_out.without_message += 1,
            Without::Part => self.left_out.parts += 1,
            Without::Around(channel) => self.left_out.handle_no_place(*channel),
            Without::Unread(error) => self.read.handle(Err(error)),
        }
    }

    /// Counts a packet that a kind of capture cannot hold.
    pub(super) fn handle_refused(&mut self, error: &EmitError) {
        match error {
            EmitError::NoPlace { .. } => self.left_out.others += 1,
            EmitError::TooLong(_) => self.left_out.too_long += 1,
        }
    }

    /// In words. `[one, many]` is the word for a written packet, singular and plural.
    pub(super) fn sentence(&self, [one, many]: [&str; 2]) -> String {
        let mut text = format!("{} written", counted(self.written, one, many));
        if self.blank > 0 {
            text += &format!(
                ", {} of them hidden because they may identify a person (--no-redact)",
                self.blank
            );
        }
        if self.without_carrier > 0 {
            text += &format!(
                ", {} of them without the number of their carrier, which is over 16383 (a pcapng has it)",
                self.without_carrier
            );
        }
        let left_out = self.left_out.parts();
        if !left_out.is_empty() {
            text += &format!("; left out: {}", left_out.join(", "));
        }
        text
    }
}

impl LeftOut {
    /// Counts a message of a kind that the file has no place for.
    pub(super) fn handle_no_place(&mut self, channel: Channel) {
        *self.no_place.entry(channel.to_string()).or_default() += 1;
    }

    /// The count of each reason, in a few words.
    fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = [
            (
                self.hidden,
                "packet that may identify a person (--no-redact)",
                "packets that may identify a person (--no-redact)",
            ),
            (
                self.unwanted,
                "packet that --only does not name",
                "packets that --only does not name",
            ),
            (self.others, "packet that is no log record", "packets that are no log records"),
            (self.without_message, "record without a message", "records without a message"),
            (self.parts, "part of a message", "parts of messages"),
            (self.too_long, "record too long for such a file", "records too long for such a file"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
        if !self.no_place.is_empty() {
            let count = self.no_place.values().sum();
            let words = counted(
                count,
                "message that such a file has no place for",
                "messages that such a file has no place for",
            );
            let kinds = self.no_place.iter().map(|(kind, count)| format!("{count} {kind}"));
            parts.push(format!("{words} ({})", kinds.collect::<Vec<_>>().join(", ")));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_named_and_what_did_not_happen_is_not() {
        let records = ["record", "records"];
        assert_eq!(Tally { written: 1, ..Tally::default() }.sentence(records), "1 record written");
        let no_place = BTreeMap::from([("gsm_rach".to_owned(), 1), ("nr_pcch".to_owned(), 2)]);
        let left_out = LeftOut { hidden: 2, others: 1, no_place, ..LeftOut::default() };
        let tally = Tally { written: 5, blank: 4, left_out, ..Tally::default() };
        assert_eq!(
            tally.sentence(records),
            "5 records written, 4 of them hidden because they may identify a person (--no-redact); left out: 2 packets \
             that may identify a person (--no-redact), 1 packet that is no log record, 3 messages that such a file has no \
             place for (1 gsm_rach, 2 nr_pcch)"
        );
    }
}
