//! The functions of `sounding/od.h`, which documents them.

use std::ffi::{c_char, c_int, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

use libc::{size_t, ssize_t};
use sounding_estimate::Direction;
use sounding_kpi::registry;

pub use crate::delay::Delay;
use crate::error::{self, Failure, text};
pub use crate::link::Link;
pub use crate::sample::{KpiInfo, Sample};
use crate::source::Source;
use crate::table;

/// `OD_ABI`.
pub const ABI: c_uint = 1;

/// Runs a call: what fails sets errno and is −1; what panics must not unwind into C and is EIO.
fn call<T: From<i8>>(body: impl FnOnce() -> Result<T, Failure>) -> T {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    let broken = |_| Err(Failure::new(libc::EIO, "a mistake in libOD itself, please report it"));
    outcome.unwrap_or_else(broken).unwrap_or_else(|failure| {
        failure.raise();
        T::from(-1)
    })
}

fn with_source<T>(
    handle: c_int,
    body: impl FnOnce(&mut Source) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let shared = table::find(handle)?;
    let mut source = shared.lock().unwrap_or_else(PoisonError::into_inner);
    body(&mut source)
}

fn null(what: &str) -> Failure {
    Failure::new(libc::EFAULT, format_args!("{what} is null"))
}

/// `od_open`.
///
/// # Safety
///
/// `source` is null or a zero-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_open(source: *const c_char) -> c_int {
    call(|| {
        // SAFETY: as the caller says.
        let source = unsafe { text(source, "source") }?;
        table::insert(Source::open(source)?)
    })
}

/// `od_subscribe`.
///
/// # Safety
///
/// `kpi` is null or a zero-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_subscribe(od: c_int, kpi: *const c_char) -> c_int {
    call(|| {
        with_source(od, |source| {
            // SAFETY: as the caller says.
            let kpi = unsafe { text(kpi, "kpi") }?;
            Ok(source.subscribe(kpi)? as c_int)
        })
    })
}

/// `od_read`.
///
/// # Safety
///
/// `samples` is null or has room for `count` samples.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_read(od: c_int, samples: *mut Sample, count: size_t) -> ssize_t {
    call(|| {
        with_source(od, |source| {
            if samples.is_null() {
                return Err(null("samples"));
            }
            if count == 0 {
                return Err(Failure::new(libc::EINVAL, "room for no sample"));
            }
            // Requests for more KPIs than the limit of subscriptions are split.
            let most = count.min(MAX_AT_ONCE);
            let mut taken = vec![Sample::default(); most];
            let read = source.read(&mut taken)?;
            // Through our own buffer, because C's need not hold valid samples yet. SAFETY: not
            // null, and by contract there is space for `count`, which `read` does not
            // exceed.
            unsafe { std::ptr::copy_nonoverlapping(taken.as_ptr(), samples, read) };
            Ok(read as ssize_t)
        })
    })
}

/// The largest number of samples or delays per call. `count` is the caller's promise about memory,
/// and cannot be checked.
const MAX_AT_ONCE: usize = 4096;

/// `od_latest`.
///
/// # Safety
///
/// `sample` is null or has room for one sample.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_latest(od: c_int, kpi: c_int, sample: *mut Sample) -> c_int {
    call(|| {
        with_source(od, |source| {
            if sample.is_null() {
                return Err(null("sample"));
            }
            let unknown = |_| Failure::new(libc::EINVAL, format_args!("{kpi} is no subscription"));
            let latest = source.latest(usize::try_from(kpi).map_err(unknown)?)?;
            // SAFETY: not null, and by contract there is space.
            unsafe { sample.write(latest) };
            Ok(0)
        })
    })
}

/// `od_link`.
///
/// # Safety
///
/// `modem` is null or a zero-terminated string; `line` is null or has room for one line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_link(
    od: c_int,
    modem: *const c_char,
    direction: c_int,
    line: *mut Link,
) -> c_int {
    call(|| {
        with_source(od, |source| {
            if line.is_null() {
                return Err(null("line"));
            }
            // SAFETY: as the caller says.
            let modem = unsafe { (!modem.is_null()).then(|| text(modem, "modem")) }.transpose()?;
            let way = match direction {
                0 => Direction::Uplink,
                1 => Direction::Downlink,
                other => {
                    let why = format_args!("{other} is no direction");
                    return Err(Failure::new(libc::EINVAL, why));
                }
            };
            let newest = source.link(modem, way)?;
            // SAFETY: not null, and by contract there is space.
            unsafe { line.write(newest) };
            Ok(0)
        })
    })
}

/// `od_delays`.
///
/// # Safety
///
/// `delays` is null or has room for `count` delays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_delays(od: c_int, delays: *mut Delay, count: size_t) -> ssize_t {
    call(|| {
        with_source(od, |source| {
            if delays.is_null() {
                return Err(null("delays"));
            }
            if count == 0 {
                return Err(Failure::new(libc::EINVAL, "room for no delay"));
            }
            let mut taken = Vec::new();
            source.delays(&mut taken, count.min(MAX_AT_ONCE))?;
            // SAFETY: not null, and by contract there is space for `count`, which the number of
            // taken delays does not exceed.
            unsafe { std::ptr::copy_nonoverlapping(taken.as_ptr(), delays, taken.len()) };
            Ok(taken.len() as ssize_t)
        })
    })
}

/// `od_poll_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn od_poll_fd(od: c_int) -> c_int {
    call(|| with_source(od, Source::poll_fd))
}

/// `od_close`.
#[unsafe(no_mangle)]
pub extern "C" fn od_close(od: c_int) -> c_int {
    call(|| {
        // Outside the table's lock: a device takes its time to let go.
        drop(table::remove(od)?);
        Ok(0)
    })
}

/// `od_kpi_info`.
///
/// # Safety
///
/// `kpi` is null or has room for one description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn od_kpi_info(index: size_t, kpi: *mut KpiInfo) -> c_int {
    call(|| {
        if kpi.is_null() {
            return Err(null("kpi"));
        }
        let beyond = || Failure::new(libc::ENOENT, format_args!("there is no KPI number {index}"));
        let found = registry::all().nth(index).ok_or_else(beyond)?;
        // SAFETY: not null, and by contract there is space.
        unsafe { kpi.write(KpiInfo::of(found)) };
        Ok(0)
    })
}

/// `od_error`.
#[unsafe(no_mangle)]
pub extern "C" fn od_error() -> *const c_char {
    error::last()
}

/// `od_abi`.
#[unsafe(no_mangle)]
pub extern "C" fn od_abi() -> c_uint {
    ABI
}
