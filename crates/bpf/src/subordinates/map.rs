//! Where the kernel's programs look.

use std::collections::BTreeMap;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::{Prefix, Subordinates};

impl Prefix {
    /// `struct subordinate_key`.
    fn key(self) -> [u8; 8] {
        let mut key = [0; 8];
        key[..4].copy_from_slice(&self.len.to_ne_bytes());
        key[4..].copy_from_slice(&self.first.to_be_bytes());
        key
    }
}

/// The kernel's map of them, of one instance.
#[derive(Debug)]
pub struct SubordinateMap {
    map: MapHandle,
    set: BTreeMap<Prefix, u32>,
}

impl SubordinateMap {
    pub(crate) fn of(map: MapHandle) -> Self {
        Self { map, set: BTreeMap::new() }
    }

    /// Has connections that begin from here on be counted so. Needs no rights since Linux 5.19.
    ///
    /// # Errors
    ///
    /// libbpf's, if the kernel refuses an entry, as when there are more than the map holds. Those
    /// before it are set.
    pub fn set(&mut self, ids: &Subordinates) -> libbpf_rs::Result<()> {
        let wanted = ids.prefixes();
        for (prefix, user) in &wanted {
            if self.set.get(prefix) != Some(user) {
                self.map.update(&prefix.key(), &user.to_ne_bytes(), MapFlags::ANY)?;
                self.set.insert(*prefix, *user);
            }
        }
        let old: Vec<Prefix> =
            self.set.keys().filter(|prefix| !wanted.contains_key(prefix)).copied().collect();
        for prefix in old {
            self.map.delete(&prefix.key())?;
            self.set.remove(&prefix);
        }
        Ok(())
    }
}
