//! The names and arguments of mahimahi's programs: called as `mm-link`, this program is `sounding
//! emu` with the same link.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use sounding_sim::QueueLimit;

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
    /// Its options; only mm-link and mm-meter have some.
    options: &'static [Opt],
    translate: fn(&[String]) -> Option<Vec<String>>,
}

/// An option of a program.
#[derive(Clone, Copy, Debug)]
enum Opt {
    /// A word without a value, and the same here.
    Word(&'static str, &'static str),
    /// A word with a value, its short form, and the same here.
    Value(&'static str, &'static str, &'static str),
    /// The kind of a queue, of the uplink or the downlink.
    Queue(&'static str, usize),
    /// The arguments of that queue.
    Args(&'static str, usize),
}

impl Opt {
    fn is(self, word: &str) -> bool {
        match self {
            Self::Word(long, _) | Self::Queue(long, _) | Self::Args(long, _) => word == long,
            Self::Value(long, short, _) => word == long || word == short,
        }
    }
}

const LINK_OPTIONS: [Opt; 12] = [
    Opt::Value("--uplink-log", "-u", "--up-log"),
    Opt::Value("--downlink-log", "-d", "--down-log"),
    Opt::Word("--once", "--once"),
    Opt::Word("--meter-uplink", "--meter"),
    Opt::Word("--meter-uplink-delay", "--meter"),
    Opt::Word("--meter-downlink", "--meter"),
    Opt::Word("--meter-downlink-delay", "--meter"),
    Opt::Word("--meter-all", "--meter"),
    Opt::Queue("--uplink-queue", 0),
    Opt::Queue("--downlink-queue", 1),
    Opt::Args("--uplink-queue-args", 0),
    Opt::Args("--downlink-queue-args", 1),
];

const METER_OPTIONS: [Opt; 4] = [
    Opt::Word("--meter-uplink", "--meter"),
    Opt::Word("-u", "--meter"),
    Opt::Word("--meter-downlink", "--meter"),
    Opt::Word("-d", "--meter"),
];

static PROGRAMS: [Program; 6] = [
    Program {
        name: "mm-link",
        usage: "mm-link UPLINK-TRACE DOWNLINK-TRACE [OPTION]... [COMMAND]",
        count: 2,
        options: &LINK_OPTIONS,
        translate: |words| Some(vec![pair("--up", &words[0]), pair("--down", &words[1])]),
    },
    Program {
        name: "mm-delay",
        usage: "mm-delay DELAY-IN-MS [COMMAND]",
        count: 1,
        options: &[],
        translate: |words| {
            let millis: u32 = words[0].parse().ok()?;
            Some(vec![pair("--delay", &format!("{millis}ms"))])
        },
    },
    Program {
        name: "mm-loss",
        usage: "mm-loss uplink|downlink RATE [COMMAND]",
        count: 2,
        options: &[],
        translate: |words| {
            let option = ["--up-loss", "--down-loss"][way(&words[0])?];
            Some(vec![pair(option, &words[1])])
        },
    },
    Program {
        name: "mm-onoff",
        usage: "mm-onoff uplink|downlink MEAN-ON-SECONDS MEAN-OFF-SECONDS [COMMAND]",
        count: 3,
        options: &[],
        translate: |words| {
            let option = ["--up-outages", "--down-outages"][way(&words[0])?];
            Some(vec![pair(option, &format!("{}s,{}s", words[1], words[2]))])
        },
    },
    Program {
        name: "mm-intermittent",
        usage: "mm-intermittent uplink|downlink ON-SECONDS OFF-SECONDS [COMMAND]",
        count: 3,
        options: &[],
        translate: |words| {
            let option = ["--up-outages", "--down-outages"][way(&words[0])?];
            Some(vec![pair(option, &format!("fixed:{}s,{}s", words[1], words[2]))])
        },
    },
    Program {
        name: "mm-meter",
        usage: "mm-meter [--meter-uplink] [--meter-downlink] [COMMAND]",
        count: 0,
        options: &METER_OPTIONS,
        translate: |_| Some(vec!["--meter".into()]),
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
            let is_option =
                self.option_of(word).is_some() || word.as_encoded_bytes().starts_with(b"--");
            if is_option {
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
        // The meter's options are one here.
        let mut given = link;
        for option in options.into_iter().chain(queues.options()?) {
            if option != "--meter" || !given.contains(&option) {
                given.push(option);
            }
        }
        all.extend(given.into_iter().map(Into::into));
        all.push("--".into());
        all.extend(rest.cloned());
        Ok(all)
    }

    /// The option that a word is, if it is one.
    fn option_of(&self, word: &OsStr) -> Option<Opt> {
        let word = word.to_str()?;
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        self.options.iter().copied().find(|option| option.is(name))
    }

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
        let option = self.option_of(OsStr::new(word));
        Ok(match option.ok_or_else(|| format!("{name} is none of its options"))? {
            Opt::Word(_, _) if word.contains('=') => {
                return Err(format!("{name} takes no value"));
            }
            Opt::Word(_, same) => vec![same.into()],
            Opt::Value(_, _, same) => vec![pair(same, &value()?)],
            Opt::Queue(_, way) => queues.set(way, Some(value()?), None),
            Opt::Args(_, way) => queues.set(way, None, Some(value()?)),
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
            let default = || args.is_some().then(|| "infinite".to_owned());
            let Some(kind) = kind.or_else(default) else { continue };
            let args = args.as_deref().map(with_units).filter(|args| !args.is_empty());
            let queue = args.map_or(kind.clone(), |args| format!("{kind}:{args}"));
            queue.parse::<QueueLimit>().map_err(|error| format!("{queue}: {error}"))?;
            all.push(pair(option, &queue));
        }
        Ok(all)
    }
}

/// The arguments of a queue. Mahimahi's times are whole milliseconds without a unit.
fn with_units(args: &str) -> String {
    let words = args.split(',').map(str::trim).filter(|word| !word.is_empty());
    let word = |word: &str| match word.split_once('=') {
        Some((name, value)) => {
            let (name, value) = (name.trim(), value.trim());
            let is_time = ["target", "interval", "qdelay_ref", "max_burst"].contains(&name);
            let has_no_unit = value.bytes().all(|byte| byte.is_ascii_digit());
            let unit = if is_time && has_no_unit { "ms" } else { "" };
            format!("{name}={value}{unit}")
        }
        None => word.to_owned(),
    };
    words.map(word).collect::<Vec<_>>().join(",")
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
            (
                "mm-link a b --downlink-queue=codel --downlink-queue-args target=50,interval=100 ls",
                "sounding emu --up=a --down=b --down-queue=codel:target=50ms,interval=100ms -- ls",
            ),
            (
                "mm-link a b --uplink-queue pie --uplink-queue-args qdelay_ref=20,max_burst=75",
                "sounding emu --up=a --down=b --up-queue=pie:qdelay_ref=20ms,max_burst=75ms --",
            ),
            (
                "mm-link a b --uplink-queue=infinite",
                "sounding emu --up=a --down=b --up-queue=infinite --",
            ),
            ("mm-link -u x -d y a b", "sounding emu --up=a --down=b --up-log=x --down-log=y --"),
            (
                "mm-link --meter-all --meter-uplink a b ls -u",
                "sounding emu --up=a --down=b --meter -- ls -u",
            ),
            ("mm-meter", "sounding emu --meter --"),
            ("mm-meter --meter-uplink -d ls -d", "sounding emu --meter -- ls -d"),
            ("mm-intermittent uplink 2 0.5", "sounding emu --up-outages=fixed:2s,0.5s --"),
        ] {
            assert_eq!(translated(line).as_deref(), Ok(same), "{line}");
        }
    }

    /// With spaces, as the manual writes them.
    #[test]
    fn the_arguments_of_a_queue_are_milliseconds() {
        assert_eq!(with_units("target=50, interval=100"), "target=50ms,interval=100ms");
        assert_eq!(with_units(" packets = 7,bytes=9, "), "packets=7,bytes=9");
        assert_eq!(with_units("target=5us"), "target=5us");
    }

    #[test]
    fn other_arguments_are_refused_with_the_usage() {
        for line in [
            "mm-delay",
            "mm-delay soon",
            "mm-loss sideways 0.1",
            "mm-link a",
            "mm-link a b --meter-all=1",
            "mm-link a b --meter",
            "mm-link a b --uplink-queue=red",
            "mm-link a b --uplink-queue-args=packets=7",
            "mm-link a b --uplink-queue=droptail",
            "mm-link a b --uplink-queue=codel --uplink-queue-args=target",
            "mm-meter --meter-all",
            "mm-intermittent uplink 5",
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
