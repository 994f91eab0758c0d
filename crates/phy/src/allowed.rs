/// The values that RRC can give a timer or a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Rising.
    pub values: &'static [u32],
    /// Whether it may also be switched off.
    pub infinity: bool,
}

impl Allowed {
    /// Whether this can be configured; `None` is infinity.
    pub fn contains(&self, value: Option<u32>) -> bool {
        value.map_or(self.infinity, |value| self.values.binary_search(&value).is_ok())
    }
}
