//! What the configuration file says.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::shape;
use crate::cli_types::{BoundWord, CcWord, DirectionWord, FallbackWord, MethodWord, is_default};
use crate::run::downlink;
use crate::run::share::{ApplicationWord, ShareWord};

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "is_default")]
    pub(super) modem: Vec<Modem>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) link: Link,
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "is_default")]
    pub(super) cc: Vec<Cc>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) downlink: downlink::File,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) board: Board,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) feed: Feed,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) serve: Serve,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) arrivals: Arrivals,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) calls: Calls,
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "is_default")]
    pub(super) shape: Vec<shape::File>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Modem {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) device: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) router_user: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) mask: Option<bool>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) set_untold_mask: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) budget: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) interfaces: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) sniffers: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) cqi_rates: Option<PathBuf>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) cpu_latency: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Link {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) direction: Option<DirectionWord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) method: Option<MethodWord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) sniffers: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) sniffer_user: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) cqi_rates: Option<PathBuf>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) window: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) bound: Option<BoundWord>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Cc {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) law: Option<CcWord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) fallback: Option<FallbackWord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) allowance: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) pacing_gain: Option<f64>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) share: Option<ShareWord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) application: Option<ApplicationWord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) weights: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) cgroup: Option<PathBuf>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) default: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) routes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Board {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) modem: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) kpis: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Feed {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) mode: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) group: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) delays: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Serve {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) address: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) token: Option<PathBuf>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) open: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) hosts: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Arrivals {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) modem: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) interface: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Calls {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) modem: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
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
