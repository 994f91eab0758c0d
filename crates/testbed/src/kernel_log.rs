use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// The kernel's log from some time on.
#[derive(Debug)]
pub struct KernelLog(File);

/// Words of log lines that show a defect in the kernel, or one that this project caused.
const ALARMS: [&str; 6] = ["WARNING:", "BUG:", "Oops", "Call Trace", "refcount_t", "UBSAN"];

impl KernelLog {
    /// Begins to watch. Needs CAP_SYSLOG.
    pub fn watch() -> io::Result<Self> {
        let flags = libc::O_NONBLOCK;
        let mut log = OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg")?;
        log.seek(SeekFrom::End(0))?;
        Ok(Self(log))
    }

    /// The alarms among the log lines since the last call.
    pub fn alarms(&mut self) -> Vec<String> {
        let mut alarms = Vec::new();
        let mut record = [0; 8192];
        loop {
            match self.0.read(&mut record) {
                Ok(count) if count > 0 => {
                    let line = String::from_utf8_lossy(&record[..count]).into_owned();
                    if is_alarm(&line) {
                        alarms.push(line.trim_end().to_owned());
                    }
                }
                // Records that were overwritten before they were read.
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {}
                _ => return alarms,
            }
        }
    }
}

fn is_alarm(line: &str) -> bool {
    ALARMS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_an_alarm_and_a_device_that_comes_up_is_none() {
        assert!(is_alarm("4,1,2,-;WARNING: CPU: 0 PID: 7 at net/ipv4/tcp_input.c:1"));
        assert!(!is_alarm("6,1,2,-;radio0: renamed from tun0"));
    }
}
