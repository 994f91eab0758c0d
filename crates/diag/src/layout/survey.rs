//! How much of a body a layout describes.

use super::part::{SUB_HEADER, measure_sub_packet};
use super::{Layout, Part, Short};

/// How much of a body a layout describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Bytes beyond the parts, to the end of the record, and to the end of each described
    /// sub-packet. [`Part::Padding`] is a part.
    pub unread: usize,
    /// Described sub-packets.
    pub described: usize,
    /// Id and version of the first sub-packet that is not described.
    pub missing: Option<(u8, u8)>,
}

/// The lengths of sub-packets are whole numbers of these.
const WORD: usize = 4;

impl Layout {
    /// How much of a body it describes.
    ///
    /// # Errors
    ///
    /// [`Short`] if the body ends before the layout does.
    pub fn survey(&self, body: &[u8]) -> Result<Survey, Short> {
        survey(self.parts, body)
    }
}

/// Measures `parts` from the first byte of a body on.
fn survey(parts: &'static [Part], body: &[u8]) -> Result<Survey, Short> {
    let (mut end, mut block) = (0, 0);
    let mut found = Survey::default();
    for part in parts {
        let at = end;
        if let Part::SubPackets { count, known } = part {
            for _ in 0..count.read(&body[block..]) {
                let (size, contents) = measure_sub_packet(known, body, end)?;
                match contents {
                    Some(contents) => {
                        found.described += 1;
                        let room = size - SUB_HEADER;
                        found.unread += room.saturating_sub(contents.next_multiple_of(WORD));
                    }
                    None => found.missing = found.missing.or(Some((body[end], body[end + 1]))),
                }
                end += size;
            }
        } else {
            end += part.measure(body, end, block)?;
        }
        if matches!(part, Part::Block(_)) {
            block = at;
        }
    }
    found.unread += body.len() - end;
    Ok(found)
}
