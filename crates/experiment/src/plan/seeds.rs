//! The seeds of an experiment.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Most seeds: more is a typing error.
const MOST: u64 = 100_000;

/// Seeds, in the order of their runs: `3`, `[1, 2, 5]` or `"1..20"`, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(Vec<u64>);

impl Default for Seeds {
    fn default() -> Self {
        Self(vec![1])
    }
}

impl From<u64> for Seeds {
    fn from(seed: u64) -> Self {
        Self(vec![seed])
    }
}

impl Seeds {
    /// All seeds.
    pub fn all(&self) -> &[u64] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Seeds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a seed, a list of seeds, or a range as \"1..20\"")
    }

    fn visit_i64<E: Error>(self, seed: i64) -> Result<Seeds, E> {
        let seed = u64::try_from(seed).map_err(|_| E::custom("a seed is not negative"))?;
        Ok(seed.into())
    }

    fn visit_u64<E: Error>(self, seed: u64) -> Result<Seeds, E> {
        Ok(seed.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Seeds, E> {
        let bounds = text.split_once("..").and_then(|(first, last)| {
            Some((first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?))
        });
        match bounds {
            Some((first, last)) if first <= last && last - first < MOST => {
                Ok(Seeds((first..=last).collect()))
            }
            _ => Err(E::custom(format_args!(
                "{text:?} is no range of seeds; write \"1..20\", of at most {MOST}"
            ))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Seeds, A::Error> {
        let mut seeds = Vec::new();
        while let Some(seed) = list.next_element()? {
            seeds.push(seed);
        }
        if seeds.is_empty() {
            return Err(A::Error::custom("a list of seeds has at least one"));
        }
        Ok(Seeds(seeds))
    }
}
