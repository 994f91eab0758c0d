//! One line of a log.

use alloc::string::String;
use core::time::Duration;

use sounding_units::{Bytes, scaled_decimal, without_mark};

use super::{About, LONGEST, Line};

/// A line that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {text:?}")]
pub struct BadLine {
    /// The fault.
    pub problem: Problem,
    /// The beginning of it.
    pub text: String,
}

/// An error in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Problem {
    /// It is no line of such a log.
    #[error(
        "is not `TIME + BYTES`, `TIME - BYTES DELAY`, `TIME # BYTES` or `TIME d PACKETS BYTES`"
    )]
    Shape,
    /// A field is not a number, or is outside the range of every log.
    #[error("a number is none, negative, or out of range")]
    Number,
    /// The packet left before it arrived. The two machines' clocks differed by more than its delay.
    #[error("a packet left before it came: the clocks of both ends differ")]
    Negative,
    /// It is longer than any line of a log.
    #[error("is longer than a line of a log")]
    Long,
}

/// The number of characters of a bad line that the error quotes.
const QUOTED: usize = 40;

/// The largest length of a log and the largest delay of a packet. A larger number has another unit.
const MAX_TIME: Duration = Duration::from_secs(7 * 24 * 3600);

/// Reads a line without its end; `None` of an empty one.
///
/// # Errors
///
/// [`BadLine`] if the line is too long or its words are none of this format.
pub fn parse_line(bytes: &[u8]) -> Result<Option<Line>, BadLine> {
    let bytes = without_mark(bytes).trim_ascii();
    if bytes.is_empty() {
        return Ok(None);
    }
    let bad = |problem| BadLine { problem, text: quote(bytes) };
    if let Some(about) = bytes.strip_prefix(b"#") {
        if let Some(dropped) = dropped(about) {
            return Ok(Some(dropped));
        }
        return Ok(Some(Line::About(parse_about(&String::from_utf8_lossy(about)))));
    }
    if bytes.len() > LONGEST {
        return Err(bad(Problem::Long));
    }
    let text = str::from_utf8(bytes).map_err(|_| bad(Problem::Shape))?;
    parse(text).map(Some).map_err(bad)
}

fn parse(text: &str) -> Result<Line, Problem> {
    let mut words = text.split_ascii_whitespace();
    let mut word = || words.next();
    let (Some(at), Some(kind), Some(first)) = (word(), word(), word()) else {
        return Err(Problem::Shape);
    };
    let (second, third, more) = (word(), word(), word());
    let line = match (kind, second, third) {
        ("+", flow, None) => Line::Arrived {
            at: time(at)?,
            size: bytes(first)?,
            flow: flow.map(number).transpose()?,
        },
        ("-", Some(delay), flow) => Line::Departed {
            at: time(at)?,
            size: bytes(first)?,
            delay: span(delay)?,
            flow: flow.map(number).transpose()?,
        },
        ("#", None, None) => Line::Opportunity { at: time(at)?, size: bytes(first)? },
        ("d", Some(size), None) => {
            Line::Dropped { at: time(at)?, packets: number(first)?, size: bytes(size)? }
        }
        _ => return Err(Problem::Shape),
    };
    if more.is_some() { Err(Problem::Shape) } else { Ok(line) }
}

/// A drop as `sounding emu` writes it, `# d TIME PACKETS BYTES`: mahimahi's own tools end at a line
/// `TIME d PACKETS BYTES`, which its link itself writes. `None` of every other comment.
fn dropped(about: &[u8]) -> Option<Line> {
    let text = str::from_utf8(about.get(..LONGEST.min(about.len()))?).ok()?;
    let mut words = text.split_ascii_whitespace();
    let mut word = || words.next();
    let ("d", at, packets, size) = (word()?, word()?, word()?, word()?) else { return None };
    if word().is_some() {
        return None;
    }
    let (at, packets) = (time(at).ok()?, number(packets).ok()?);
    Some(Line::Dropped { at, packets, size: bytes(size).ok()? })
}

fn parse_about(text: &str) -> About {
    let text = text.trim();
    let bracketed = || text.split_once('[')?.1.split_once(']').map(|(inside, _)| inside);
    if text.starts_with("mahimahi mm-link")
        && let Some(trace) = bracketed()
    {
        let up = text.contains("(Uplink)");
        return About::Link { trace: trace.chars().take(255).collect(), up };
    }
    if let Some(base) = text.strip_prefix("base timestamp:") {
        return time(base.trim()).map_or(About::Other, About::Base);
    }
    if text.starts_with("mahimahi config:") {
        // Every stage is in brackets. A delay stage has the text `delay N ms`.
        let stages = text.split('[').skip(1).filter_map(|stage| stage.split_once(']'));
        let delays = stages.filter_map(|(stage, _)| {
            span(stage.trim().strip_prefix("delay")?.trim().strip_suffix("ms")?.trim()).ok()
        });
        return About::Delay(delays.fold(Duration::ZERO, Duration::saturating_add));
    }
    About::Other
}

fn time(text: &str) -> Result<Duration, Problem> {
    let nanos = scaled_decimal(text, 1_000_000).ok_or(Problem::Number)?;
    Some(Duration::from_nanos(nanos)).filter(|&at| at <= MAX_TIME).ok_or(Problem::Number)
}

fn span(text: &str) -> Result<Duration, Problem> {
    match text.strip_prefix('-') {
        Some(size) => time(size).and(Err(Problem::Negative)),
        None => time(text),
    }
}

fn bytes(text: &str) -> Result<Bytes, Problem> {
    number::<u32>(text).map(|count| Bytes::new(count.into()))
}

fn number<T: core::str::FromStr>(text: &str) -> Result<T, Problem> {
    // Without a sign, which a number of things does not have.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(Problem::Number)
}

fn quote(bytes: &[u8]) -> String {
    let beginning = &bytes[..bytes.len().min(4 * QUOTED)];
    String::from_utf8_lossy(beginning).chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn line(text: &str) -> Line {
        parse_line(text.as_bytes()).unwrap().unwrap()
    }

    fn problem(text: &str) -> Problem {
        parse_line(text.as_bytes()).unwrap_err().problem
    }

    #[test]
    fn mm_link_writes_whole_milliseconds_and_no_flows() {
        let (at, size) = (Duration::from_millis(98), Bytes::new(1504));
        assert_eq!(line("98 + 1504"), Line::Arrived { at, size, flow: None });
        assert_eq!(line("98 # 1504\r"), Line::Opportunity { at, size });
        let delay = Duration::from_millis(52);
        assert_eq!(line("98 - 1504 52"), Line::Departed { at, size, delay, flow: None });
        assert_eq!(line("98 d 1 1504"), Line::Dropped { at, packets: 1, size });
        assert_eq!(line("# d 98 1 1504"), Line::Dropped { at, packets: 1, size });
        assert_eq!(line("# d 98 1 1504 7"), Line::About(About::Other));
    }

    #[test]
    fn pantheon_writes_microseconds_and_flows() {
        let (at, size) = (Duration::from_micros(98_250), Bytes::new(1500));
        assert_eq!(line("98.250 + 1500 2"), Line::Arrived { at, size, flow: Some(2) });
        let delay = Duration::from_micros(52_125);
        let departed = Line::Departed { at, size, delay, flow: Some(1) };
        assert_eq!(line("98.250 - 1500 52.125 1"), departed);
    }

    #[test]
    fn a_log_says_which_link_it_was_when_its_trace_began_and_what_else_delayed() {
        let about = |text: &str| match line(text) {
            Line::About(about) => about,
            other => panic!("{other:?}"),
        };
        let first = "# mahimahi mm-link (Uplink) [Verizon-LTE-short.up] > a.log";
        assert_eq!(about(first), About::Link { trace: "Verizon-LTE-short.up".into(), up: true });
        assert_eq!(about("# base timestamp: 39"), About::Base(Duration::from_millis(39)));
        let config = "# mahimahi config: [delay 20 ms] [loss 0.1] [delay 5 ms]";
        assert_eq!(about(config), About::Delay(Duration::from_millis(25)));
        assert_eq!(about("# init timestamp: 1795206560665.123"), About::Other);
        assert_eq!(about("# base timestamp: soon"), About::Other);
    }

    #[test]
    fn the_fault_of_a_line_is_reported() {
        for (text, expected) in [
            ("98", Problem::Shape),
            ("98 +", Problem::Shape),
            ("98 * 1504", Problem::Shape),
            ("98 - 1504", Problem::Shape),
            ("98 - 1504 5 1 7", Problem::Shape),
            ("98 # 1504 1", Problem::Shape),
            ("x + 1504", Problem::Number),
            ("-98 + 1504", Problem::Number),
            ("98 + 99999999999", Problem::Number),
            ("98 + +4", Problem::Number),
            ("1795206560665 + 1504", Problem::Number),
            ("98 - 1504 -0.125 1", Problem::Negative),
            ("98 - 1504 -x 1", Problem::Number),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
        assert_eq!(parse_line(b"  \r"), Ok(None));
    }

    #[test]
    fn an_error_repeats_only_the_beginning_of_a_long_line() {
        let error = parse_line(&std::vec![b'x'; 100_000]).unwrap_err();
        assert_eq!(error.problem, Problem::Long);
        assert!(error.to_string().len() < 120, "{error}");
    }
}
