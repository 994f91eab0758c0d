use core::time::Duration;

/// Between two periodic reports of the buffer's status in the networks that Gandalf measured
/// (§4.3.2): constants were chosen for it.
pub const USUAL_INTERVAL: Duration = Duration::from_millis(5);
/// Where reports are rarer, a queue builds up faster than one comes, and no wait for a report is
/// taken off (docs/interpretations/gandalf.md, interpretation 4).
pub const LONGEST_INTERVAL: Duration = Duration::from_millis(20);

/// The interval that constants follow: the usual one while none is known, and where no wait for a
/// report is taken off (interpretation 30).
pub fn followed(interval: Option<Duration>) -> Duration {
    let follows = |of: &Duration| (USUAL_INTERVAL..=LONGEST_INTERVAL).contains(of);
    interval.filter(follows).unwrap_or(USUAL_INTERVAL)
}

/// So many intervals as `of_usual` is usual ones.
pub fn in_intervals(of_usual: Duration, interval: Duration) -> Duration {
    if interval == USUAL_INTERVAL {
        return of_usual;
    }
    of_usual.mul_f64(interval.as_secs_f64() / USUAL_INTERVAL.as_secs_f64())
}

/// What a mean is over that has no period of reports in it: whole intervals, and no less than
/// `at_least`. A longer mean is later.
pub fn whole_intervals(at_least: Duration, interval: Duration) -> Duration {
    let count = at_least.as_nanos().div_ceil(interval.as_nanos().max(1));
    interval.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_follow_what_is_known_within_what_is_taken_off() {
        let ms = Duration::from_millis;
        let followed = |interval: Option<u64>| followed(interval.map(ms));
        assert_eq!([None, Some(0), Some(1), Some(5)].map(followed), [ms(5); 4]);
        assert_eq!([10, 16, 20].map(|of| followed(Some(of))), [10, 16, 20].map(ms));
        assert_eq!([32, 2_560].map(|of| followed(Some(of))), [ms(5); 2]);
        assert_eq!(in_intervals(ms(30), ms(5)), ms(30));
        assert_eq!(in_intervals(ms(30), ms(16)), ms(96));
        assert_eq!(in_intervals(Duration::from_micros(2_500), ms(20)), ms(10));
        assert_eq!(
            [5, 10, 16, 20].map(|of| whole_intervals(ms(30), ms(of))),
            [ms(30), ms(30), ms(32), ms(40)]
        );
    }
}
