//! Queues and losses on the command line.

use std::time::Duration;

use sounding_sim::{DropFrom, Losses, QueueLimit};
use sounding_units::Bytes;

/// Shorter times would take all of a processor. Chosen: below it no packet would see a pause.
const SHORTEST: Duration = Duration::from_millis(1);

/// Reads `infinite`, `droptail:packets=100`, `drophead:bytes=30000,packets=20`.
pub(super) fn parse_queue(text: &str) -> Result<QueueLimit, String> {
    let (kind, limits) = text.split_once(':').unwrap_or((text, ""));
    let drop = match kind {
        "infinite" if limits.is_empty() => return Ok(QueueLimit::INFINITE),
        "droptail" => DropFrom::Tail,
        "drophead" => DropFrom::Head,
        _ => return Err("a queue is infinite, droptail:LIMITS or drophead:LIMITS".into()),
    };
    let mut queue = QueueLimit { drop, ..QueueLimit::INFINITE };
    for limit in limits.split(',') {
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
        match limit.split_once('=') {
            Some(("packets", count)) => queue.packets = Some(number(count)?),
            Some(("bytes", count)) => queue.bytes = Some(Bytes::new(number(count)?)),
            _ => return Err(format!("{kind} needs packets=N, bytes=N or both, with a comma")),
        }
    }
    Ok(queue)
}

/// Reads a share of packets.
pub(super) fn parse_losses(text: &str) -> Result<Losses, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(Losses::Share(share)),
        _ => Err("a share of packets is a number from 0 to 1".into()),
    }
}

/// Reads two mean times, as `5s,1s`.
pub(super) fn parse_outages(text: &str) -> Result<Losses, String> {
    let time = |text: &str| {
        humantime::parse_duration(text.trim()).or_else(|error| {
            // Mahimahi's programs take fractions of a second.
            let seconds =
                text.trim().strip_suffix('s').and_then(|number| number.parse::<f64>().ok());
            let time =
                seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            time.ok_or_else(|| error.to_string())
        })
    };
    let (on, off) = text.split_once(',').ok_or("two mean times with a comma, as 5s,1s")?;
    let (on, off) = (time(on)?, time(off)?);
    if on + off < SHORTEST {
        return Err("both mean times together are at least 1ms".into());
    }
    Ok(Losses::Outages { on, off })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_read_as_mahimahi_describes_them() {
        assert_eq!(parse_queue("infinite"), Ok(QueueLimit::INFINITE));
        assert_eq!(parse_queue("droptail:packets=7"), Ok(QueueLimit::packets(7)));
        let both = parse_queue("drophead:bytes=3000,packets=2");
        let packets = QueueLimit::packets(2);
        let wanted = QueueLimit { bytes: Some(Bytes::new(3000)), drop: DropFrom::Head, ..packets };
        assert_eq!(both, Ok(wanted));
        for wrong in
            ["codel", "droptail", "droptail:packets=-1", "infinite:packets=1", "droptail:7"]
        {
            parse_queue(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn losses_are_shares_or_times() {
        assert_eq!(parse_losses("0.25"), Ok(Losses::Share(0.25)));
        for wrong in ["1.5", "-0.1", "NaN", "x"] {
            parse_losses(wrong).expect_err(wrong);
        }
        let (on, off) = (Duration::from_secs(5), Duration::from_millis(500));
        assert_eq!(parse_outages("5s,0.5s"), Ok(Losses::Outages { on, off }));
        assert_eq!(parse_outages("5s, 500ms"), Ok(Losses::Outages { on, off }));
        parse_outages("0s,0s").expect_err("no time");
        parse_outages("5s").expect_err("one time");
        parse_outages("-1s,1s").expect_err("a time before");
    }
}
