//! Finds the messages in records, and joins their segments.

use alloc::collections::BTreeMap;

use sounding_diag::record::{LteRrc, MessageSegments, NrRrc, RecordError, RrcPdu, Segment};
use sounding_diag::{LogCode, LogRecord};

/// Streams of segments that are held at once: more than a modem has, so that a broken capture costs
/// no more.
const MAX_STREAMS: usize = 64;

/// Finds the messages of one stream of records, in its order.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    segments: BTreeMap<(LogCode, Option<u32>), MessageSegments>,
}

/// A message, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The kind of the message.
    pub pdu: RrcPdu,
    /// Its encoding.
    pub bytes: &'a [u8],
}

impl Messages {
    /// The message that a record holds or completes; `None` if it holds none, or a part with others
    /// to come.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the record's version or its kind of message is not described, or its
    /// bytes do not fit the description.
    pub fn handle_record<'a>(
        &'a mut self,
        log: &LogRecord<'a>,
    ) -> Result<Option<Message<'a>>, RecordError> {
        let ((pdu, segment), bytes) = match log.code {
            LteRrc::CODE => {
                let record = LteRrc::parse(log.body)?;
                (record.described(log)?, record.message)
            }
            NrRrc::CODE => {
                let record = NrRrc::parse(log.body)?;
                (record.described(log)?, record.message)
            }
            _ => return Ok(None),
        };
        if segment == Segment::Whole {
            return Ok(Some(Message { pdu, bytes }));
        }
        if self.segments.len() >= MAX_STREAMS {
            self.segments.clear();
        }
        let parts = self.segments.entry((log.code, log.radio)).or_default();
        Ok(parts.handle_segment(segment, bytes).map(|bytes| Message { pdu, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_diag::record::Version;
    use std::vec;
    use std::vec::Vec;

    /// A record of version 30 of LTE's messages, with the given fields after the version.
    fn record(pdu: u8, segment: u8, message: &[u8]) -> Vec<u8> {
        let mut body = vec![0; 24];
        (body[0], body[14], body[19], body[23]) = (30, pdu, message.len() as u8, segment);
        body.extend_from_slice(message);
        body
    }

    fn log(radio: u32, body: &[u8]) -> LogRecord<'_> {
        LogRecord { code: LteRrc::CODE, at: Default::default(), stamp: 0, radio: Some(radio), body }
    }

    const DL_DCCH: u8 = 9;

    #[test]
    fn segments_of_two_radios_do_not_mix() {
        let mut messages = Messages::default();
        let (one, two) = (record(DL_DCCH, 1, b"ab"), record(DL_DCCH, 1, b"xy"));
        let (end, other) = (record(DL_DCCH, 7, b"c"), record(DL_DCCH, 7, b"z"));
        assert_eq!(messages.handle_record(&log(1, &one)), Ok(None));
        assert_eq!(messages.handle_record(&log(2, &two)), Ok(None));
        let message = |bytes| Ok(Some(Message { pdu: RrcPdu::LteDlDcch, bytes }));
        assert_eq!(messages.handle_record(&log(1, &end)), message(&b"abc"[..]));
        assert_eq!(messages.handle_record(&log(2, &other)), message(&b"xyz"[..]));
    }

    #[test]
    fn an_undescribed_kind_is_reported() {
        let mut messages = Messages::default();
        let unknown = record(200, 0, b"a");
        let read = messages.handle_record(&log(1, &unknown));
        let version = Version::Message { packet: 30, number: 200 };
        let expected = RecordError::Unsupported { code: LteRrc::CODE, version, len: unknown.len() };
        assert_eq!(read, Err(expected));
    }

    #[test]
    fn more_streams_than_a_modem_has_are_not_kept() {
        let mut messages = Messages::default();
        let begin = record(DL_DCCH, 1, b"a");
        for radio in 0..1000 {
            assert_eq!(messages.handle_record(&log(radio, &begin)), Ok(None));
            assert!(messages.segments.len() <= MAX_STREAMS);
        }
    }
}
