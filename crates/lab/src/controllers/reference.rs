//! One of them, by its name.

use std::fmt;
use std::time::Duration;

use sounding_baselines::oracle::Word;

/// A sender that knows its link's rate and queue without error, and not the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// When it knows.
    pub hears: Hears,
    /// Queueing delay to keep at the link, whole milliseconds.
    pub room: Duration,
    /// The link's rate is its mean over this span, in whole milliseconds.
    pub span: Duration,
}

/// When a reference receives reports of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// In each millisecond.
    Always,
    /// Every 10 ms, the interval of a modem's most frequent record (BISCAY §4).
    ByRecord,
}

impl Hears {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Always, Self::ByRecord];

    /// Name of a reference with this knowledge.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "present",
            Self::ByRecord => "reported",
        }
    }

    const fn every(self) -> Duration {
        match self {
            Self::Always => Duration::ZERO,
            Self::ByRecord => Duration::from_millis(10),
        }
    }

    /// The reference of a name without numbers. Chosen: over recorded links it carries about what
    /// `sounding` does.
    const fn usual(self) -> Reference {
        let [room, span] = match self {
            Self::Always => [4, 10],
            Self::ByRecord => [15, 100],
        };
        Reference {
            hears: self,
            room: Duration::from_millis(room),
            span: Duration::from_millis(span),
        }
    }
}

/// The longest room or span in a name. Chosen: far longer than a link stays the same.
const MAX_MS: u64 = 10_000;

impl Reference {
    /// From names as `present`, `reported`, `present-15ms` (its queue target) and
    /// `reported-15ms-over-30ms` (and its span).
    pub fn by_name(name: &str) -> Option<Self> {
        let hears = Hears::ALL.into_iter().find(|hears| name.starts_with(hears.name()))?;
        let usual = hears.usual();
        let Some(numbers) = name[hears.name().len()..].strip_prefix('-') else {
            return (name == hears.name()).then_some(usual);
        };
        let (room, span) = match numbers.split_once("-over-") {
            None => (millis(numbers)?, usual.span),
            Some((room, span)) => (millis(room)?, millis(span)?),
        };
        (!span.is_zero()).then_some(Self { hears, room, span })
    }

    /// The delays of its knowledge: `lead` from the sender to the link, `late` from there to the
    /// sender.
    pub(crate) fn word(self, lead: Duration, late: Duration) -> Word {
        let Self { hears, room, span } = self;
        Word { lead, late, every: hears.every(), span, room }
    }
}

fn millis(text: &str) -> Option<Duration> {
    let number = text.strip_suffix("ms")?;
    // Not "+5", which is a number too.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let ms = number.parse().ok().filter(|ms| is_plain && *ms <= MAX_MS)?;
    Some(Duration::from_millis(ms))
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hears, room, span } = self;
        let (name, usual) = (hears.name(), hears.usual());
        let (room, span) = (room.as_millis(), span.as_millis());
        if *self == usual {
            f.pad(name)
        } else if self.span == usual.span {
            f.pad(&format!("{name}-{room}ms"))
        } else {
            f.pad(&format!("{name}-{room}ms-over-{span}ms"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_room_and_span_and_is_said_again_as_short_as_can_be() {
        for name in ["present", "reported", "present-6ms", "reported-0ms-over-30ms"] {
            let reference = Reference::by_name(name).unwrap_or_else(|| panic!("{name} is none"));
            assert_eq!(reference.to_string(), name);
        }
        let long = Reference::by_name("reported-7ms-over-250ms").expect("one");
        let ms = Duration::from_millis;
        assert_eq!((long.hears, long.room, long.span), (Hears::ByRecord, ms(7), ms(250)));
        let usual = Reference::by_name("present").expect("one");
        let [room, span] = [usual.room, usual.span].map(|length| length.as_millis());
        let spelt = Reference::by_name(&format!("present-{room}ms-over-{span}ms")).expect("one");
        assert_eq!(spelt.to_string(), "present");
    }

    #[test]
    fn what_is_no_such_name_is_none() {
        for name in [
            "presently",
            "present-",
            "present-ms",
            "present-5",
            "present-+5ms",
            "present-5ms-over-",
            "present-5ms-over-0ms",
            "present-99999ms",
            "present-99999999999999999999ms",
            "oracle",
            "",
        ] {
            assert_eq!(Reference::by_name(name), None, "{name}");
        }
    }
}
