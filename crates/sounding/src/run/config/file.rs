//! What the configuration file says.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::shape;
use crate::cli_types::{BoundWord, CcWord, DirectionWord, FallbackWord, MethodWord};
use crate::run::downlink;
use crate::run::share::{ApplicationWord, ShareWord};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    #[serde(deserialize_with = "one_or_many")]
    pub(super) modem: Vec<Modem>,
    pub(super) link: Link,
    #[serde(deserialize_with = "one_or_many")]
    pub(super) cc: Vec<Cc>,
    pub(super) downlink: downlink::File,
    pub(super) board: Board,
    pub(super) arrivals: Arrivals,
    pub(super) calls: Calls,
    #[serde(deserialize_with = "one_or_many")]
    pub(super) shape: Vec<shape::File>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Modem {
    pub(super) name: Option<String>,
    pub(super) device: Option<String>,
    pub(super) router_user: Option<String>,
    pub(super) mask: Option<bool>,
    pub(super) set_untold_mask: bool,
    pub(super) budget: Option<String>,
    pub(super) interfaces: Vec<String>,
    pub(super) sniffers: Vec<String>,
    pub(super) cqi_rates: Option<PathBuf>,
    pub(super) cpu_latency: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Link {
    pub(super) direction: Option<DirectionWord>,
    pub(super) method: Option<MethodWord>,
    pub(super) sniffers: Vec<String>,
    pub(super) sniffer_user: Option<String>,
    pub(super) cqi_rates: Option<PathBuf>,
    pub(super) window: Option<String>,
    pub(super) bound: Option<BoundWord>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Cc {
    pub(super) law: Option<CcWord>,
    pub(super) fallback: Option<FallbackWord>,
    pub(super) name: Option<String>,
    pub(super) allowance: Option<String>,
    pub(super) pacing_gain: Option<f64>,
    pub(super) share: Option<ShareWord>,
    pub(super) application: Option<ApplicationWord>,
    pub(super) weights: BTreeMap<String, f64>,
    pub(super) cgroup: Option<PathBuf>,
    pub(super) default: bool,
    pub(super) routes: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Board {
    pub(super) modem: Option<String>,
    pub(super) name: Option<String>,
    pub(super) kpis: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Arrivals {
    pub(super) modem: Option<String>,
    pub(super) interface: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Calls {
    pub(super) modem: Option<String>,
    pub(super) socket: Option<PathBuf>,
}

/// `[cc]`, or any number of `[[cc]]`, and so of other sections.
fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    input: D,
) -> Result<Vec<T>, D::Error> {
    struct OneOrMany<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a section, as [cc], or [[cc]] for each of several")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
            Ok(vec![T::deserialize(MapAccessDeserializer::new(map))?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(seq))
        }
    }

    input.deserialize_any(OneOrMany(PhantomData))
}
