use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// CAKE.
    Cake,
    /// CAKE with a queue for each of the device's (Linux 7.0).
    CakeMq,
    /// HTB with one class.
    Htb,
}

impl Kind {
    /// Its name in the kernel.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cake => "cake",
            Self::CakeMq => "cake_mq",
            Self::Htb => "htb",
        }
    }

    /// The kind of this name in the kernel, if it is one of a shaper.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Cake, Self::CakeMq, Self::Htb].into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
