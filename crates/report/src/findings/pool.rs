//! Values of many runs together, in bounded memory.

/// The largest number of kept values. Chosen: quartiles of a quarter of a million values are as
/// good as those of all.
const MOST: usize = 1 << 18;

/// Keeps every n-th value, so that the kept values are spread over all values.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    values: Vec<f64>,
    stride: usize,
    came: usize,
}

impl Default for Pool {
    fn default() -> Self {
        Self { values: Vec::new(), stride: 1, came: 0 }
    }
}

impl Pool {
    pub(super) fn push(&mut self, value: f64) {
        if self.came.is_multiple_of(self.stride) {
            self.values.push(value);
        }
        self.came += 1;
        if self.values.len() == MOST {
            let mut at = 0;
            self.values.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
        }
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_keeps_its_size_and_its_median() {
        let mut pool = Pool::default();
        (0..3 * MOST).for_each(|value| pool.push(value as f64));
        assert!(pool.values().len() < MOST);
        let middle = pool.values()[pool.values().len() / 2] / (3 * MOST) as f64;
        assert!((middle - 0.5).abs() < 1e-4, "{middle}");
    }
}
