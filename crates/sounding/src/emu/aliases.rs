//! The names and arguments of mahimahi's programs: called as `mm-link`, this program is `sounding
//! emu` with the same link.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Why the arguments are none of mahimahi's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{program}: {problem}\nusage: {usage}")]
pub(crate) struct Wrong {
    program: &'static str,
    problem: String,
    usage: &'static str,
}

/// A program of mahimahi.
struct Program {
    name: &'static str,
    usage: &'static str,
    /// The number of arguments before the command.
    count: usize,
    translate: fn(&[String]) -> Option<Vec<String>>,
}

static PROGRAMS: [Program; 4] = [
    Program {
        name: "mm-link",
        usage: "mm-link UPLINK-TRACE DOWNLINK-TRACE [OPTION]... [COMMAND]",
        count: 2,
        translate: |words| Some(vec![pair("--up", &words[0]), pair("--down", &words[1])]),
    },
    Program {
        name: "mm-delay",
        usage: "mm-delay DELAY-IN-MS [COMMAND]",
        count: 1,
        translate: |words| {
            let millis: u32 = words[0].parse().ok()?;
            Some(vec![pair("--delay", &format!("{millis}ms"))])
        },
    },
    Program {
        name: "mm-loss",
        usage: "mm-loss uplink|downlink RATE [COMMAND]",
        count: 2,
        translate: |words| {
            let option = ["--up-loss", "--down-loss"][way(&words[0])?];
            Some(vec![pair(option, &words[1])])
        },
    },
    Program {
        name: "mm-onoff",
        usage: "mm-onoff uplink|downlink MEAN-ON-SECONDS MEAN-OFF-SECONDS [COMMAND]",
        count: 3,
        translate: |words| {
            let option = ["--up-outages", "--down-outages"][way(&words[0])?];
            Some(vec![pair(option, &format!("{}s,{}s", words[1], words[2]))])
        },
    },
];

/// The arguments that mean the same to this program, its own name first; `None` if it was not
/// called by a name of mahimahi's.
pub(crate) fn translate(arguments: &[OsString]) -> Option<Result<Vec<OsString>, Wrong>> {
    let name = Path::new(arguments.first()?).file_name()?;
    let program = PROGRAMS.iter().find(|program| name == program.name)?;
    let translated = program.translated(&arguments[1..]).map_err(|problem| Wrong {
        program: program.name,
        problem,
        usage: program.usage,
    });
    Some(translated)
}

impl Program {
    fn translated(&self, arguments: &[OsString]) -> Result<Vec<OsString>, String> {
        let mut rest = arguments.iter().peekable();
        let (mut words, mut options, mut queues) = (Vec::new(), Vec::new(), Queues::default());
        let text = |word: &OsStr| {
            word.to_str().map(str::to_owned).ok_or_else(|| format!("{word:?} is not UTF-8"))
        };
        // The command begins at the first word that is neither an option nor one of the link.
        while let Some(word) = rest.peek() {
            if word.as_encoded_bytes().starts_with(b"--") {
                let word = text(rest.next().expect("it was there"))?;
                if word == "--" {
                    break;
                }
                let mut value = || rest.next().map(|value| text(value)).transpose();
                options.extend(self.option(&word, &mut value, &mut queues)?);
            } else if words.len() < self.count {
                words.push(text(rest.next().expect("it was there"))?);
            } else {
                break;
            }
        }
        if words.len() < self.count {
            return Err(format!("{} arguments are missing", self.count - words.len()));
        }
        let link = (self.translate)(&words).ok_or("an argument is not as below")?;
        let mut all: Vec<OsString> = vec!["sounding".into(), "emu".into()];
        all.extend(link.into_iter().chain(options).chain(queues.options()?).map(Into::into));
        all.push("--".into());
        all.extend(rest.cloned());
        Ok(all)
    }

    /// An option of mm-link, which is the only one that has any.
    fn option(
        &self,
        word: &str,
        next: &mut dyn FnMut() -> Result<Option<String>, String>,
        queues: &mut Queues,
    ) -> Result<Vec<String>, String> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let mut value = || match &value {
            Some(value) => Ok(value.clone()),
            None => next()?.ok_or_else(|| format!("{name} needs a value")),
        };
        Ok(match name {
            _ if self.name != "mm-link" => return Err(format!("{name} is none of its options")),
            "--uplink-log" => vec![pair("--up-log", &value()?)],
            "--downlink-log" => vec![pair("--down-log", &value()?)],
            "--once" => vec!["--once".into()],
            "--uplink-queue" => queues.set(0, Some(value()?), None),
            "--downlink-queue" => queues.set(1, Some(value()?), None),
            "--uplink-queue-args" => queues.set(0, None, Some(value()?)),
            "--downlink-queue-args" => queues.set(1, None, Some(value()?)),
            meter if meter.starts_with("--meter") => {
                return Err(format!(
                    "{name} opens a window, and there is none here: write logs with --uplink-log and --downlink-log"
                ));
            }
            _ => return Err(format!("{name} is none of its options")),
        })
    }
}

/// The queues of mm-link, up and down: kind and arguments.
#[derive(Default)]
struct Queues([(Option<String>, Option<String>); 2]);

impl Queues {
    fn set(&mut self, way: usize, kind: Option<String>, args: Option<String>) -> Vec<String> {
        let queue = &mut self.0[way];
        queue.0 = kind.or(queue.0.take());
        queue.1 = args.or(queue.1.take());
        Vec::new()
    }

    fn options(self) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for (option, (kind, args)) in ["--up-queue", "--down-queue"].iter().zip(self.0) {
            let Some(kind) = kind else { continue };
            if !["infinite", "droptail", "drophead"].contains(&kind.as_str()) {
                return Err(format!(
                    "there is no queue {kind:?} here, only infinite, droptail and drophead"
                ));
            }
            let args = args.map(|args| format!(":{}", args.replace(' ', ""))).unwrap_or_default();
            all.push(pair(option, &format!("{kind}{args}")));
        }
        Ok(all)
    }
}

fn way(word: &str) -> Option<usize> {
    ["uplink", "downlink"].iter().position(|name| *name == word)
}

/// One word, so that a value that begins with a dash is still a value.
fn pair(option: &str, value: &str) -> String {
    format!("{option}={value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Result<String, Wrong> {
        let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let words = translate(&words).expect("a name of mahimahi's")?;
        Ok(words.join(OsStr::new(" ")).into_string().expect("text"))
    }

    #[test]
    fn each_program_of_mahimahi_is_a_link_here() {
        for (line, same) in [
            ("mm-delay 20", "sounding emu --delay=20ms --"),
            ("/usr/bin/mm-delay 20 ping -c 3 x", "sounding emu --delay=20ms -- ping -c 3 x"),
            ("mm-loss uplink 0.1 ls --all", "sounding emu --up-loss=0.1 -- ls --all"),
            ("mm-onoff downlink 5 0.5", "sounding emu --down-outages=5s,0.5s --"),
            ("mm-link a b -- ls", "sounding emu --up=a --down=b -- ls"),
            (
                "mm-link a b --once --uplink-log=x --downlink-log y ls",
                "sounding emu --up=a --down=b --once --up-log=x --down-log=y -- ls",
            ),
            (
                "mm-link --uplink-queue=droptail --uplink-queue-args=packets=7 a b",
                "sounding emu --up=a --down=b --up-queue=droptail:packets=7 --",
            ),
        ] {
            assert_eq!(translated(line).as_deref(), Ok(same), "{line}");
        }
    }

    #[test]
    fn other_arguments_are_refused_with_the_usage() {
        for line in [
            "mm-delay",
            "mm-delay soon",
            "mm-loss sideways 0.1",
            "mm-link a",
            "mm-link a b --meter-all",
            "mm-link a b --uplink-queue=codel",
            "mm-link a b --uplink-log",
            "mm-delay --once 5",
        ] {
            let wrong = translated(line).expect_err(line).to_string();
            assert!(wrong.contains("usage: mm-"), "{wrong}");
        }
        assert_eq!(translate(&["sounding".into(), "emu".into()]), None);
        assert_eq!(translate(&[]), None);
    }
}
