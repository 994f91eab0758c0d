/// Buckets of a mean.
pub(super) const BUCKETS: usize = 8;

/// The mean of what the last eight buckets of time hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    buckets: [Bucket; BUCKETS],
    newest: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    sum: u64,
    count: u32,
    /// Which of all time.
    of: u32,
}

impl Mean {
    /// Another value, in this bucket of all time.
    pub(super) fn push(&mut self, bucket: u32, value: u32) {
        let place = &mut self.buckets[bucket as usize % BUCKETS];
        if place.of != bucket {
            *place = Bucket { of: bucket, ..Bucket::default() };
        }
        place.sum += u64::from(value);
        place.count = place.count.wrapping_add(1);
        self.newest = bucket;
    }

    /// The mean, rounded down; zero without values.
    pub(super) fn get(&self) -> u32 {
        let counts = |bucket: &&Bucket| self.newest.wrapping_sub(bucket.of) < BUCKETS as u32;
        let (mut sum, mut count) = (0, 0);
        for bucket in self.buckets.iter().filter(counts) {
            sum += bucket.sum;
            count += u64::from(bucket.count);
        }
        u64::checked_div(sum, count).map_or(0, |mean| u32::try_from(mean).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_eight_buckets_old_does_not_count() {
        let mut mean = Mean::default();
        assert_eq!(mean.get(), 0);
        mean.push(100, 10);
        mean.push(107, 21);
        assert_eq!(mean.get(), 15);
        mean.push(108, 30);
        assert_eq!(mean.get(), 25);
    }
}
