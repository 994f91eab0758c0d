//! Time from a buffer status report to the grant (Gandalf §3.2.1, Equation 4): data arrives at a
//! silent device all at once.

use std::time::Duration;

use sounding_cell::config::InvalidConfig;
use sounding_experiment::metrics::quantile;

use super::reader::Heard;
use super::rig::{ORIGIN, Packets, Rig};
use super::walk::{lte, on_lte, standing};
use super::{Measured, Noted};

/// From the first report after a silence to the first block that is much larger than the one that
/// carried it: t_r + K2, in ms. The grant for the report itself answers a request, which does not
/// contain the backlog.
pub(super) fn answers_ms(heard: &Heard) -> Vec<f64> {
    const SILENCE: u64 = 60_000_000;
    const SOON: usize = 8;
    let mut blocks = heard.blocks.clone();
    blocks.sort_by_key(|block| block.at);
    let mut answers = Vec::new();
    for (place, pair) in blocks.windows(2).enumerate() {
        let [before, first] = pair else { continue };
        if first.at - before.at < SILENCE || first.told.is_none_or(|told| told == 0) {
            continue;
        }
        let rest = blocks.iter().skip(place + 2).take(SOON);
        let larger = rest.into_iter().find(|block| block.size * 10 > first.size * 13);
        answers.extend(larger.map(|block| (block.at - first.at) as f64 / 1e6));
    }
    answers
}

/// 30 kB at once, five times a second, at random times.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    const EVERY_US: u64 = 200_700;
    const PACKETS: u64 = 20;
    let mut rig = Rig::new(vec![lte()], &[on_lte(standing(seed))], seed)?;
    let mut heard = Heard::default();
    for burst in 0..span.as_micros() as u64 / EVERY_US {
        let at = ORIGIN + Duration::from_micros(EVERY_US * burst);
        for number in 0..PACKETS {
            rig.send(Packets { at, up: true, size: 1_500, number });
        }
    }
    for _ in 0..span.as_millis() as u64 {
        rig.step(&mut |_, _| {}, &mut |log| heard.handle_log(log));
    }
    into.note("answer.lte", quantile(&answers_ms(&heard), 0.5));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::cell::reader::Sent;

    #[test]
    fn an_answer_is_the_first_block_after_a_report_that_is_larger() {
        let sent = |ms: u64, size, told| Sent { at: ms * 1_000_000, size, told };
        let blocks = vec![
            sent(0, 50, None),
            sent(100, 100, Some(9_000)),
            sent(105, 100, None),
            sent(110, 1_000, Some(0)),
            sent(112, 3_000, None),
            sent(300, 100, Some(0)),
            sent(310, 1_000, None),
        ];
        assert_eq!(answers_ms(&Heard { blocks, ..Heard::default() }), [10.0]);
    }
}
