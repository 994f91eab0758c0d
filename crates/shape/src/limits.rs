use core::fmt;

use sounding_units::Rate;

/// The rates that a shaper may have, in bytes of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    min: Rate,
    base: Rate,
    max: Rate,
}

/// Why limits are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitsError {
    /// The least is zero: nothing would ever leave.
    NoMin,
    /// They are not in the order min, base, max.
    Order(Limits),
}

impl Limits {
    /// The least that a shaper may have: 64 kbit/s. Chosen; a packet of 1,500 bytes takes 188 ms.
    pub const LEAST: Rate = Rate::from_bits_per_sec(64_000);

    /// Limits: the rate stays between `min` and `max`, and is `base` while the modem is not heard.
    ///
    /// # Errors
    ///
    /// [`LimitsError`] unless `0 < min <= base <= max`.
    pub fn new(min: Rate, base: Rate, max: Rate) -> Result<Self, LimitsError> {
        let limits = Self { min, base, max };
        if min == Rate::default() {
            return Err(LimitsError::NoMin);
        }
        if min > base || base > max {
            return Err(LimitsError::Order(limits));
        }
        Ok(limits)
    }

    /// The lowest rate.
    pub const fn min(self) -> Rate {
        self.min
    }

    /// The rate without an estimate.
    pub const fn base(self) -> Rate {
        self.base
    }

    /// The highest rate.
    pub const fn max(self) -> Rate {
        self.max
    }

    /// The three, by name.
    pub const fn named(self) -> [(&'static str, Rate); 3] {
        [("min", self.min), ("base", self.base), ("max", self.max)]
    }

    /// The nearest rate within them.
    pub fn clamp(self, rate: Rate) -> Rate {
        rate.clamp(self.min, self.max)
    }
}

impl fmt::Display for LimitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMin => f.write_str("min is zero, and nothing would leave: give it a rate"),
            Self::Order(Limits { min, base, max }) => {
                write!(f, "min {min}, base {base} and max {max} are not in this order")
            }
        }
    }
}

impl core::error::Error for LimitsError {}
