use std::io;

/// Keeps memory from being swapped out while it stays mapped.
///
/// # Errors
///
/// The kernel's error, for example from a limit on locked memory. It costs only that guarantee.
pub fn lock_into_memory(bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the range is this slice; locking changes nothing in it.
    match unsafe { libc::mlock(bytes.as_ptr().cast(), bytes.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_locked_is_counted_as_locked() {
        let locked = || {
            let status =
                std::fs::read_to_string("/proc/self/status").expect("a process has a status");
            let line =
                status.lines().find_map(|line| line.strip_prefix("VmLck:")).map(str::to_owned);
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
        };
        let page = vec![1; 1 << 16];
        let before = locked().expect("it says how much");
        match lock_into_memory(&page) {
            Ok(()) => assert!(locked() >= Some(before + 64), "{before} before, {:?}", locked()),
            // The limit of this user.
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOMEM), "{error}"),
        }
    }
}
