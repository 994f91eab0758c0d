//! Handles. The low ten bits are an index in a table; the higher bits count how often that index
//! was used. So a closed handle is never valid for a later source at the same index.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Failure;
use crate::source::Source;

/// Maximum number of open handles: `od_open` then returns EMFILE.
const MOST: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 10;
/// A handle is a positive int.
const USES: u32 = 1 << (31 - PLACE_BITS);

pub(crate) type Shared = Arc<Mutex<Source>>;

#[derive(Default)]
struct Place {
    /// How often it was used, from 1 on. So all handles are at least 1024, and differ from most
    /// file descriptors.
    uses: u32,
    source: Option<Shared>,
}

static TABLE: Mutex<Vec<Place>> = Mutex::new(Vec::new());

fn table() -> MutexGuard<'static, Vec<Place>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a source and gives its handle.
pub(crate) fn insert(source: Source) -> Result<i32, Failure> {
    let mut table = table();
    let free = table.iter().position(|place| place.source.is_none());
    let index = match free {
        Some(index) => index,
        None if table.len() < MOST => {
            table.push(Place::default());
            table.len() - 1
        }
        None => return Err(Failure::new(libc::EMFILE, format_args!("{MOST} handles are open"))),
    };
    let place = &mut table[index];
    place.uses = if place.uses + 1 == USES { 1 } else { place.uses + 1 };
    place.source = Some(Arc::new(Mutex::new(source)));
    Ok((place.uses << PLACE_BITS | index as u32).cast_signed())
}

/// The source of a handle.
pub(crate) fn find(handle: i32) -> Result<Shared, Failure> {
    let mut table = table();
    place(&mut table, handle)?.source.clone().ok_or_else(|| bad(handle))
}

/// Removes the source of a handle; a running call finishes first.
pub(crate) fn remove(handle: i32) -> Result<Shared, Failure> {
    let mut table = table();
    place(&mut table, handle)?.source.take().ok_or_else(|| bad(handle))
}

fn place(table: &mut [Place], handle: i32) -> Result<&mut Place, Failure> {
    let number = u32::try_from(handle).map_err(|_| bad(handle))?;
    let place = table.get_mut(number as usize % MOST).ok_or_else(|| bad(handle))?;
    if place.uses == number >> PLACE_BITS && place.uses > 0 { Ok(place) } else { Err(bad(handle)) }
}

fn bad(handle: i32) -> Failure {
    Failure::new(libc::EBADF, format_args!("{handle} is not an open handle"))
}
