//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_feed::{FeedError, Lines};
use sounding_units::HostInstant;

/// The number of lines before the stream ends, and the error that it ends with. Any bytes are no
/// feed, or lines that can be written and read again.
pub(crate) fn feed(data: &[u8]) -> (u64, FeedError) {
    let mut lines = match Lines::new(data) {
        Ok(lines) => lines,
        Err(error) => return (0, error),
    };
    let mut count = 0;
    loop {
        match lines.next().expect("an error ends it") {
            Ok(line) => {
                count += 1;
                for at in [0, line.made_at_ns, u64::MAX] {
                    let now = HostInstant::from_nanos(at);
                    assert!(line.age_ms_at(now) >= line.age_ms, "{line:?}");
                    let _ = line.is_valid(now);
                }
                // With its signs escaped a foreign line may be too long.
                let whole = [GREETING, &line.text()].concat();
                let again = Lines::new(&whole[..]).expect("a greeting").next().expect("a line");
                match again {
                    Ok(again) => {
                        assert_eq!((again.number, &again.modem), (line.number, &line.modem));
                    }
                    Err(error) => assert!(error.to_string().contains("longer"), "{error}"),
                }
            }
            Err(error) => {
                assert!(lines.next().is_none());
                return (count, error);
            }
        }
    }
}

pub(crate) const GREETING: &[u8] = b"{\"feed\":\"rate\",\"version\":1,\"longest_gap_ms\":100}\n";
