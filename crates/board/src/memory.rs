use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};

/// A file's bytes as words that several processes share.
#[derive(Debug)]
pub(crate) struct Memory(MmapRaw);

impl Memory {
    /// The whole file, to be read and written.
    pub(crate) fn writable(file: &File) -> io::Result<Self> {
        MmapOptions::new().map_raw(file).map(Self)
    }

    /// The whole file, to be read only.
    pub(crate) fn readable(file: &File) -> io::Result<Self> {
        MmapOptions::new().map_raw_read_only(file).map(Self)
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        let len = self.0.len() / size_of::<AtomicU64>();
        // SAFETY: a mapping begins at a page, holds `len` words and lives as long as `self`. Other
        // processes change it meanwhile, which is what atomics allow. Through a read-only
        // mapping nothing here stores.
        unsafe { std::slice::from_raw_parts(self.0.as_mut_ptr().cast::<AtomicU64>(), len) }
    }
}
