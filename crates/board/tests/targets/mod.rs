//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use std::os::unix::net::UnixListener;

use sounding_board::{Place, Reader};
use sounding_kpi::board::MAX_NAME;
use sounding_units::HostInstant;

/// A folder with a server on the board's wake-up socket.
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
        let listener = UnixListener::bind(folder.path().join("modem.wake")).expect("a socket");
        listener.set_nonblocking(true).expect("a socket");
        Self { folder, listener }
    }
}

/// The file of a board with arbitrary bytes: it is refused, or everything in it can be read.
/// Returns how many KPIs it has.
pub(crate) fn board(data: &[u8]) -> Option<usize> {
    RIG.with(|rig| {
        let place = Place::new(rig.folder.path(), "modem").expect("a plain name");
        std::fs::write(place.memory(), data).expect("room");
        let opened = Reader::open(&place);
        let writer = rig.listener.accept();
        let mut reader = opened.ok()?;
        let names = reader.names();
        for (slot, name) in names.iter().enumerate() {
            assert!(name.len() <= MAX_NAME);
            let first = reader.find(name).expect("it was named");
            assert!(first <= slot && names[first] == *name);
        }
        for slot in 0..=names.len() {
            let _ = reader.read(slot);
        }
        assert!(reader.life().is_some());
        for now in [0, 1, u64::MAX] {
            let _ = reader.writer(HostInstant::from_nanos(now));
        }
        // However much the server writes there.
        if let Ok((mut wakes, _)) = writer {
            let _ = std::io::Write::write(&mut wakes, data);
        }
        reader.rearm();
        assert!(reader.read(names.len()).is_ok_and(|sample| sample.is_none()), "no such slot");
        Some(names.len())
    })
}
