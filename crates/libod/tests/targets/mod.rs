//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_int};
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixListener;
use std::ptr::{null, null_mut};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use od::ffi::{
    Delay, KpiInfo, Link, Sample, od_close, od_delays, od_error, od_kpi_info, od_latest, od_link,
    od_open, od_poll_fd, od_read, od_subscribe,
};

/// A folder in which the source of a program lies.
struct Rig {
    folder: tempfile::TempDir,
    listener: UnixListener,
}

thread_local! {
    static RIG: Rig = Rig::new();
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("x.wake")).expect("a socket");
        listener.set_nonblocking(true).expect("a socket");
        Self { folder, listener }
    }

    /// What opens the source of that kind.
    fn source(&self, kind: u8, file: &[u8]) -> Option<CString> {
        let path = self.folder.path().join("x.board");
        fs::write(&path, file).expect("room");
        let path = path.display();
        match kind % 4 {
            0 => CString::new(format!("capture:{path}")).ok(),
            1 => CString::new(format!("board:{path}")).ok(),
            2 => CString::new(format!("device:{path}")).ok(),
            // Words, but none that lead out of here: to files, to other machines or to a modem.
            _ => {
                let words = CString::new(file).ok()?;
                let leads_out = |word: &[u8]| file.windows(word.len()).any(|found| found == word);
                let ways: [&[u8]; 4] = [b"/", b"tcp:", b"router", b"device:-"];
                (!ways.into_iter().any(leads_out)).then_some(words)
            }
        }
    }
}

/// A C program with its own source: a kind, the number of calls, two bytes for each, and the file
/// or the text that is opened. Calls come in any order, also before `od_open` and after `od_close`.
/// Each does what the header says: it gives one of the listed errnos, or at most as many samples as
/// fit. Returns how many samples were read.
pub(crate) fn libod(data: &[u8]) -> usize {
    let Some((&[kind, count], rest)) = data.split_first_chunk::<2>() else { return 0 };
    let (calls, file) = rest.split_at((usize::from(count) * 2).min(rest.len()));
    RIG.with(|rig| {
        let Some(source) = rig.source(kind, file) else { return 0 };
        let mut program =
            Program { source, od: -1, is_open: false, kpis: BTreeSet::new(), samples: 0 };
        for call in calls.chunks_exact(2) {
            program.call(call[0], call[1], file);
            // Every client of a board is accepted, or the next would wait.
            while rig.listener.accept().is_ok() {}
        }
        program.close();
        program.samples
    })
}

struct Program {
    source: CString,
    /// The handle, also once it is closed.
    od: c_int,
    is_open: bool,
    /// Numbers that subscriptions have been given.
    kpis: BTreeSet<c_int>,
    samples: usize,
}

/// The last failure is one of these, and says something.
fn failed(expected: &[Errno]) {
    let errno = Errno::last();
    assert!(expected.contains(&errno), "{errno} is none of {expected:?}");
    // SAFETY: never null, and valid until the next failure.
    assert!(!unsafe { CStr::from_ptr(od_error()) }.is_empty());
}

impl Program {
    fn call(&mut self, call: u8, argument: u8, file: &[u8]) {
        match call % 10 {
            0 => self.open(),
            1 => {
                let kpi = sounding_kpi::registry::all().nth(argument.into());
                self.subscribe(kpi.map_or("lte", |kpi| kpi.name).into());
            }
            2 => self.subscribe(file[..file.len().min(argument.into())].to_vec()),
            3 => self.read(argument.into()),
            4 => self.latest(c_int::from(argument.cast_signed())),
            5 => self.poll(),
            6 if argument.is_multiple_of(4) => self.close(),
            6 => self.null(),
            8 => self.link(c_int::from(argument.cast_signed())),
            9 => self.delays(argument.into()),
            _ => self.describe(usize::from(argument)),
        }
    }

    fn open(&mut self) {
        self.close();
        // SAFETY: a C string.
        self.od = unsafe { od_open(self.source.as_ptr()) };
        self.is_open = self.od >= 0;
        if !self.is_open {
            failed(&[Errno::EINVAL, Errno::ENOENT, Errno::EPIPE]);
        }
    }

    fn subscribe(&mut self, name: Vec<u8>) {
        let Ok(name) = CString::new(name) else { return };
        // SAFETY: a C string.
        match unsafe { od_subscribe(self.od, name.as_ptr()) } {
            -1 => failed(&[Errno::ENOENT, Errno::EBUSY, Errno::EBADF, Errno::EINVAL]),
            kpi => {
                assert!((0..=self.kpis.len() as c_int).contains(&kpi), "numbers count from 0");
                self.kpis.insert(kpi);
            }
        }
    }

    fn read(&mut self, room: usize) {
        let mut samples = vec![Sample::default(); room];
        // SAFETY: there is room for as many as there are.
        match unsafe { od_read(self.od, samples.as_mut_ptr(), room) } {
            -1 => {
                failed(&[Errno::EAGAIN, Errno::EPIPE, Errno::EUSERS, Errno::EINVAL, Errno::EBADF]);
            }
            read => {
                let read = read.cast_unsigned();
                assert!(read <= room);
                assert!(
                    samples[..read].iter().all(|sample| self.kpis.contains(&(sample.kpi as c_int)))
                );
                self.samples += read;
            }
        }
    }

    fn latest(&self, kpi: c_int) {
        let mut sample = Sample::default();
        // SAFETY: there is room for one.
        match unsafe { od_latest(self.od, kpi, &raw mut sample) } {
            -1 => failed(&[Errno::EAGAIN, Errno::EINVAL, Errno::EBADF]),
            _ => assert!(self.kpis.contains(&kpi) && sample.kpi as c_int == kpi),
        }
    }

    fn link(&self, direction: c_int) {
        let mut line = std::mem::MaybeUninit::<Link>::uninit();
        // SAFETY: null is a modem, and there is room for one.
        match unsafe { od_link(self.od, null(), direction, line.as_mut_ptr()) } {
            -1 => failed(&[Errno::ENODATA, Errno::EINVAL, Errno::EBADF]),
            _ => assert!([0, 1].contains(&direction), "a direction has rows"),
        }
    }

    fn delays(&self, room: usize) {
        let mut delays: Vec<Delay> = Vec::with_capacity(room);
        // SAFETY: there is room for as many.
        match unsafe { od_delays(self.od, delays.as_mut_ptr(), room) } {
            -1 => failed(&[Errno::EINVAL, Errno::EBADF]),
            count => assert!(count.cast_unsigned() <= room),
        }
    }

    fn poll(&self) {
        match od_poll_fd(self.od) {
            -1 => failed(&[Errno::EINVAL, Errno::EBADF]),
            fd => {
                // SAFETY: the descriptor is open as long as its handle.
                let fd = unsafe { BorrowedFd::borrow_raw(fd) };
                let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
                poll(&mut fds, PollTimeout::ZERO).expect("it can be waited for");
            }
        }
    }

    fn null(&self) {
        // SAFETY: null is what these functions look for.
        unsafe {
            assert_eq!(od_open(null_mut()), -1);
            failed(&[Errno::EFAULT]);
            assert_eq!(od_subscribe(self.od, null_mut()), -1);
            failed(&[Errno::EFAULT, Errno::EBADF]);
            assert_eq!(od_read(self.od, null_mut(), 1), -1);
            failed(&[Errno::EFAULT, Errno::EBADF]);
            assert_eq!(od_latest(self.od, 0, null_mut()), -1);
            failed(&[Errno::EFAULT, Errno::EBADF]);
            assert_eq!(od_link(self.od, null(), 0, null_mut()), -1);
            failed(&[Errno::EFAULT, Errno::EBADF]);
            assert_eq!(od_delays(self.od, null_mut(), 1), -1);
            failed(&[Errno::EFAULT, Errno::EBADF]);
            assert_eq!(od_kpi_info(0, null_mut()), -1);
            failed(&[Errno::EFAULT]);
        }
    }

    fn describe(&self, index: usize) {
        let mut info = std::mem::MaybeUninit::<KpiInfo>::uninit();
        // SAFETY: there is room for one.
        if unsafe { od_kpi_info(index, info.as_mut_ptr()) } == -1 {
            failed(&[Errno::ENOENT]);
        }
    }

    /// Closes what is open; a second time is an error.
    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            assert_eq!(od_close(self.od), 0);
        }
        assert_eq!(od_close(self.od), -1);
        failed(&[Errno::EBADF]);
        self.kpis.clear();
    }
}
