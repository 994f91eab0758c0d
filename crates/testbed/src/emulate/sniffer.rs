//! The logs of a plan's sniffer, which grow while the plan runs.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use sounding_cell::config::Rat;
use sounding_emu::SnifferTap;
use sounding_experiment::plan::{Plan, Run};
use sounding_host::files::{self, Access, Folder};
use sounding_kpi::Direction;
use sounding_sim::Device;
use sounding_trace::dci::{Dci, Format, Heard};

/// Lines that wait for the disk at most: seconds of many carriers. Further lines are dropped, as of
/// a sniffer that is behind.
const CAPACITY: usize = 1 << 16;

/// Logs that are being written, named as those of `sounding sim --out`. Those in a folder of their
/// own go with it.
#[derive(Debug)]
pub(super) struct SnifferLogs {
    folder: PathBuf,
    _own: Option<Folder>,
    lines: Option<SyncSender<Heard>>,
    writer: Option<JoinHandle<()>>,
}

/// The logs of a carrier.
fn kinds(rat: Rat) -> &'static [(&'static str, Format)] {
    match rat {
        Rat::Lte => &[
            ("-down.dciLog", Format::DciLog(Direction::Downlink)),
            ("-up.dciLog", Format::DciLog(Direction::Uplink)),
        ],
        Rat::Nr => &[(".csv", Format::NrScope)],
    }
}

fn path(folder: &Path, carrier: usize, end: &str) -> PathBuf {
    folder.join(format!("carrier-{carrier}{end}"))
}

impl SnifferLogs {
    /// Begins to write them, to a folder or to a new one.
    pub(super) fn start(run: &Run, folder: Option<&Path>) -> io::Result<Self> {
        let carriers = run.plan.cell.as_ref().map_or(&[][..], |cell| &cell.carriers);
        let (folder, own) = match folder {
            Some(folder) => {
                files::make_folder(folder)?;
                (folder.to_path_buf(), None)
            }
            None => {
                // It never gets this name.
                let name = std::env::temp_dir().join("sniffer");
                let own = Folder::begin(&name, Access::Usual)?;
                (own.path(), Some(own))
            }
        };
        let mut logs = Vec::new();
        for (carrier, config) in carriers.iter().enumerate() {
            let mut of_carrier = Vec::new();
            for (end, format) in kinds(config.rat) {
                let mut file = BufWriter::new(files::grow(&path(&folder, carrier, end))?);
                if !format.header().is_empty() {
                    writeln!(file, "{}", format.header())?;
                    file.flush()?;
                }
                of_carrier.push((*format, file));
            }
            logs.push(of_carrier);
        }
        let (lines, to_write) = sync_channel(CAPACITY);
        let writer = thread::Builder::new().name("sniffer".into()).spawn(move || {
            // A disk that is full ends the logs, and not the plan.
            let _ = write(&to_write, &mut logs);
        })?;
        Ok(Self { folder, _own: own, lines: Some(lines), writer: Some(writer) })
    }

    /// What the emulation gives its lines to.
    pub(super) fn tap(&self) -> Option<SnifferTap> {
        let lines = self.lines.clone()?;
        Some(SnifferTap::new(move |heard| {
            let _ = lines.try_send(heard);
        }))
    }

    /// What a reader of this device's modem takes for `--sniffer`, carrier by carrier.
    pub(super) fn sources(&self, plan: &Plan, device: Device, direction: Direction) -> Vec<String> {
        let (Some(cell), Some(entry)) = (&plan.cell, super::entry(plan, device)) else {
            return Vec::new();
        };
        let first = entry.config.cells.first();
        let mut sources: Vec<String> = Vec::new();
        for &carrier in first.into_iter().flatten() {
            let Some(config) = cell.carriers.get(carrier) else { continue };
            let (kind, end) = match (config.rat, direction) {
                (Rat::Lte, Direction::Downlink) => ("dcilog", "-down.dciLog"),
                (Rat::Lte, Direction::Uplink) => ("dcilog", "-up.dciLog"),
                (Rat::Nr, _) => ("nr-scope", ".csv"),
            };
            sources.push(format!("{kind}:{}", path(&self.folder, carrier, end).display()));
        }
        sources
    }
}

type Log = (Format, BufWriter<File>);

fn write(lines: &Receiver<Heard>, logs: &mut [Vec<Log>]) -> io::Result<()> {
    let mut text = String::new();
    loop {
        let heard = match lines.try_recv() {
            Ok(heard) => heard,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                // A reader that follows the logs gets the newest lines.
                for (_, file) in logs.iter_mut().flatten() {
                    file.flush()?;
                }
                let Ok(heard) = lines.recv() else { break };
                heard
            }
        };
        let (Heard::Nothing(moment) | Heard::Dci(Dci { moment, .. })) = &heard;
        for (format, file) in logs.get_mut(usize::from(moment.cell)).into_iter().flatten() {
            text.clear();
            if format.write(&heard, &mut text) {
                file.write_all(text.as_bytes())?;
            }
        }
    }
    logs.iter_mut().flatten().try_for_each(|(_, file)| file.flush())
}

impl Drop for SnifferLogs {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
