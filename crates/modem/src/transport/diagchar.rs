//! `/dev/diag`, the driver of phones up to Android 11.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sounding_host::{Capabilities, spawn_with_only};

use super::open::open_device;
use super::{OpenError, Read, Transport, outcome, userspace, wait};

/// Requests of the driver. They are plain numbers, from before the kernel's scheme of sizes and
/// directions.
mod request {
    pub(super) const SWITCH_LOGGING: libc::c_ulong = 7;
    pub(super) const DEINIT: libc::c_ulong = 9;
    pub(super) const BUFFERING: libc::c_ulong = 35;
    pub(super) const DRAIN: libc::c_ulong = 36;
    pub(super) const PERIPHERALS: libc::c_ulong = 40;
}

/// The log goes to this process instead of USB.
const MEMORY_DEVICE: u32 = 2;

/// All known peripherals, for a driver that does not report those that it has.
const ALL_PERIPHERALS: u32 = 0x7F;

/// The modem is the first of all peripherals.
const MODEM: u8 = 0;

/// An open `/dev/diag`, with its log switched to this process.
///
/// Older drivers do not support poll: it always reports data, and the read then sleeps. A thread
/// reads and passes the frames on through a pipe, which supports it.
#[derive(Debug)]
pub struct DiagChar {
    device: Arc<File>,
    frames: OwnedFd,
    drains: bool,
}

/// Requests to the driver. A stand-in answers in tests, because only phones have the driver.
trait Driver {
    /// An argument by pointer. The driver copies as much as its own structure has, and may write it
    /// back.
    fn by_pointer(&self, request: libc::c_ulong, argument: &mut [u8]) -> io::Result<()>;
    /// An argument that is the number itself.
    fn by_value(&self, request: libc::c_ulong, argument: u32) -> io::Result<()>;
}

impl Driver for File {
    fn by_pointer(&self, request: libc::c_ulong, argument: &mut [u8]) -> io::Result<()> {
        let mut padded = [0; 64];
        padded[..argument.len()].copy_from_slice(argument);
        // SAFETY: the driver reads or writes no more than its largest structure, 28 bytes, and 64
        // are there.
        let result = unsafe { libc::ioctl(self.as_raw_fd(), request as _, padded.as_mut_ptr()) };
        argument.copy_from_slice(&padded[..argument.len()]);
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn by_value(&self, request: libc::c_ulong, argument: u32) -> io::Result<()> {
        // SAFETY: a number is passed, no memory.
        let result =
            unsafe { libc::ioctl(self.as_raw_fd(), request as _, libc::c_ulong::from(argument)) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Requests the log for this process.
///
/// The argument has grown with Android: mode and mask of peripherals; then a mask of protection
/// domains and a parameter; then a peripheral; then a mask of devices. Each begins like its
/// predecessor, and a driver does not read beyond its end, so the longest works for all. The oldest
/// drivers take a number, not a pointer.
fn switch_logging(driver: &impl Driver) -> io::Result<()> {
    let mut peripherals = 0xFF_u32.to_le_bytes();
    let peripherals = match driver.by_pointer(request::PERIPHERALS, &mut peripherals) {
        Ok(()) => u32::from_le_bytes(peripherals),
        Err(_) => ALL_PERIPHERALS,
    };
    for parameter in [0, 1] {
        let mut argument = [0; 24];
        argument[..4].copy_from_slice(&MEMORY_DEVICE.to_le_bytes());
        argument[4..8].copy_from_slice(&peripherals.to_le_bytes());
        argument[12] = parameter;
        // No single peripheral, which the driver calls by its error for a bad argument.
        argument[16..20].copy_from_slice(&(-libc::EINVAL).to_le_bytes());
        // This chip, not a second one.
        argument[20..24].copy_from_slice(&1u32.to_le_bytes());
        if driver.by_pointer(request::SWITCH_LOGGING, &mut argument).is_ok() {
            return Ok(());
        }
    }
    driver.by_value(request::SWITCH_LOGGING, MEMORY_DEVICE)
}

/// Makes the modem buffer until it gets a drain command. Returns whether it does; a peripheral
/// without that feature refuses.
fn buffer(driver: &impl Driver) -> bool {
    // Mode 1 sends at the high mark; the marks are the driver's own, in per cent.
    let threshold = &mut [MODEM, 1, 85, 15];
    driver.by_pointer(request::BUFFERING, threshold).is_ok()
        && driver.by_pointer(request::DRAIN, &mut [MODEM]).is_ok()
}

impl DiagChar {
    /// Opens it and has the log sent here.
    ///
    /// # Errors
    ///
    /// [`OpenError::Switch`] if its driver refuses to send the log here; another [`OpenError`] if
    /// it is missing, denied or in use.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let device = open_device(path)?;
        // The thread sleeps in read.
        let blocking = nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_RDWR);
        nix::fcntl::fcntl(&device, blocking).map_err(|errno| OpenError::at(path, errno.into()))?;
        switch_logging(&device).map_err(|error| OpenError::Switch { path: path.into(), error })?;
        let drains = buffer(&device);
        let device = Arc::new(device);
        let frames = pump(Arc::clone(&device)).map_err(|error| OpenError::at(path, error))?;
        Ok(Self { device, frames, drains })
    }
}

/// Starts the thread that reads, and returns the end of the pipe from which frames are read.
fn pump(device: Arc<File>) -> io::Result<OwnedFd> {
    let (frames, into) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    let mut into = File::from(into);
    // Modem output is parsed here, which needs no rights.
    spawn_with_only(Capabilities::empty(), "diag", move || {
        let mut buffer = vec![0; super::READ_SIZE];
        // Ends when the device fails, the driver ends the session, or the frames have no receiver.
        while let Ok(count) = (&*device).read(&mut buffer) {
            let pieces = userspace::pieces(&buffer[..count]);
            if count == 0
                || pieces.map(|piece| into.write_all(piece)).any(|written| written.is_err())
            {
                return;
            }
        }
    })?;
    Ok(frames)
}

impl Transport for DiagChar {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if !wait([self.frames.as_fd()], patience)? {
            return Ok(Read::Idle);
        }
        outcome(nix::unistd::read(&self.frames, buffer).map_err(io::Error::from))
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        (&*self.device).write_all(&userspace::wrap(bytes))
    }

    fn can_drain(&self) -> bool {
        self.drains
    }

    fn drain(&mut self) -> io::Result<()> {
        self.device.by_pointer(request::DRAIN, &mut [MODEM])
    }
}

impl Drop for DiagChar {
    fn drop(&mut self) {
        // The modem goes back to sending at once, and the driver wakes the thread with a last
        // message.
        let _ = self.device.by_pointer(request::BUFFERING, &mut [MODEM, 0, 85, 15]);
        let _ = self.device.by_value(request::DEINIT, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A driver whose structure for SWITCH_LOGGING has this many bytes; none takes a number.
    struct Fake {
        len: Option<usize>,
        asked: RefCell<Vec<(libc::c_ulong, Vec<u8>)>>,
    }

    fn fake(len: Option<usize>) -> Fake {
        Fake { len, asked: RefCell::default() }
    }

    impl Driver for Fake {
        fn by_pointer(&self, request: libc::c_ulong, argument: &mut [u8]) -> io::Result<()> {
            let Some(len) = self.len else { return Err(io::ErrorKind::InvalidInput.into()) };
            let seen = &argument[..argument.len().min(len)];
            self.asked.borrow_mut().push((request, seen.to_vec()));
            if request == request::PERIPHERALS {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            Ok(())
        }

        fn by_value(&self, request: libc::c_ulong, argument: u32) -> io::Result<()> {
            if self.len.is_some() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            self.asked.borrow_mut().push((request, argument.to_le_bytes().to_vec()));
            Ok(())
        }
    }

    #[test]
    fn every_generation_of_the_driver_sees_the_mode_and_the_peripherals() {
        // Android 7, 9 and 10.
        for len in [9, 20, 24] {
            let driver = fake(Some(len));
            switch_logging(&driver).expect("switches");
            let asked = driver.asked.borrow();
            let (_, seen) =
                asked.iter().find(|(r, _)| *r == request::SWITCH_LOGGING).expect("asked");
            assert_eq!(seen.len(), len);
            assert_eq!(seen[..8], [2, 0, 0, 0, 0x7F, 0, 0, 0]);
            // The parameter of Android 7 is at the place where later versions have the lowest byte
            // of a mask, which is empty.
            assert_eq!(seen[8], 0);
        }
    }

    #[test]
    fn the_oldest_driver_takes_a_number() {
        let driver = fake(None);
        switch_logging(&driver).expect("switches");
        assert_eq!(*driver.asked.borrow(), [(request::SWITCH_LOGGING, vec![2, 0, 0, 0])]);
        assert!(!buffer(&driver), "and has no buffering");
    }

    #[test]
    fn a_buffering_modem_gets_drain_commands() {
        let driver = fake(Some(24));
        assert!(buffer(&driver));
        let expected = [(request::BUFFERING, vec![0, 1, 85, 15]), (request::DRAIN, vec![0])];
        assert_eq!(*driver.asked.borrow(), expected);
    }

    #[test]
    fn frames_come_out_of_the_pipe_without_their_wrapping() {
        let (reads, mut writes) = {
            let (reads, writes) = nix::unistd::pipe().expect("a pipe");
            (File::from(reads), File::from(writes))
        };
        writes.write_all(b"\x20\0\0\0\x02\0\0\0\x02\0\0\0ab\x01\0\0\0c").expect("room");
        let frames = pump(Arc::new(reads)).expect("a thread");
        let mut buffer = [0; 8];
        let mut got = Vec::new();
        while got.len() < 3 {
            assert!(wait([frames.as_fd()], Duration::from_secs(5)).expect("waits"));
            let count = nix::unistd::read(&frames, &mut buffer).expect("reads");
            got.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(got, b"abc");
        // The thread that reads the modem has no other rights.
        let threads = std::fs::read_dir("/proc/self/task").expect("it has threads").flatten();
        let threads = threads.filter_map(|t| std::fs::read_to_string(t.path().join("status")).ok());
        let readers: Vec<_> = threads.filter(|text| text.contains("Name:\tdiag\n")).collect();
        assert_eq!(readers.len(), 1);
        assert!(readers[0].contains("CapEff:\t0000000000000000"), "{}", readers[0]);
        // The device is gone, so the pipe closes.
        drop(writes);
        assert!(wait([frames.as_fd()], Duration::from_secs(5)).expect("waits"));
        assert_eq!(nix::unistd::read(&frames, &mut buffer), Ok(0));
    }
}
