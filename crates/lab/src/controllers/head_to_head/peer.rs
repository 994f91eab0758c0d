//! The command lines of the other implementations.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

/// A port without another meaning for any of them.
const PORT: &str = "9000";

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Near,
    Far,
}

impl End {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Near => Self::Far,
            Self::Far => Self::Near,
        }
    }
}

/// Values for a command line.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub(super) folder: PathBuf,
    pub(super) near: Ipv4Addr,
    pub(super) far: Ipv4Addr,
    /// Minimum duration of sending.
    pub(super) duration: Duration,
}

/// One program.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(&'static str, PathBuf)>,
    pub(super) input: Input,
}

/// The input of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    Nothing,
    /// Zeros, as many as it reads.
    Zeros,
    /// No data, and no end either.
    Open,
}

impl Call {
    fn of(ends: &Ends, program: &str, arguments: &[&str]) -> Self {
        Self {
            program: ends.folder.join(program),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            environment: Vec::new(),
            input: Input::Nothing,
        }
    }

    fn reads(self, input: Input) -> Self {
        Self { input, ..self }
    }
}

/// Another implementation of one of the controllers.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its name here.
    pub name: &'static str,
    /// Its program.
    pub program: &'static str,
    /// Name of the controller in the registry.
    pub controller: &'static str,
    /// The end that must start first.
    pub(super) waits: End,
    pub(super) sender: fn(&Ends) -> Call,
    pub(super) receiver: fn(&Ends) -> Call,
}

/// All that can be run; each needs a folder with its programs.
pub const PEERS: [Peer; 5] = [
    Peer {
        name: "copa",
        program: "genericCC, auto:0.5",
        controller: "copa",
        waits: End::Far,
        sender: |ends| {
            let server = format!("serverip={}", ends.far);
            let port = format!("serverport={PORT}");
            let on = format!("onduration={}", ends.duration.as_millis());
            let fixed = ["offduration=0", "cctype=markovian", "delta_conf=do_ss:auto:0.5"];
            let traffic = "traffic_params=deterministic,num_cycles=1";
            let [off, kind, delta] = fixed;
            Call::of(ends, "sender", &[&server, &port, off, &on, kind, delta, traffic])
        },
        receiver: |ends| Call::of(ends, "receiver", &[PORT]),
    },
    Peer {
        name: "libutp",
        program: "libutp, ucat-static",
        controller: "ledbat",
        waits: End::Far,
        sender: |ends| {
            let far = ends.far.to_string();
            Call::of(ends, "ucat-static", &[&far, PORT]).reads(Input::Zeros)
        },
        receiver: |ends| Call::of(ends, "ucat-static", &["-l", "-p", PORT]).reads(Input::Open),
    },
    Peer {
        name: "vivace",
        program: "PCC-Uspace, Vivace Vivace",
        controller: "vivace",
        waits: End::Far,
        sender: |ends| {
            let far = ends.far.to_string();
            Call::of(ends, "app/pccclient", &["send", &far, PORT, "Vivace", "Vivace"])
        },
        receiver: |ends| Call::of(ends, "app/pccserver", &["recv", PORT]),
    },
    Peer {
        name: "sprout",
        program: "sprout, sproutbt2",
        controller: "sprout",
        waits: End::Far,
        sender: |ends| {
            let far = ends.far.to_string();
            sprout(ends, Call::of(ends, "src/examples/sproutbt2", &[&far, PORT]))
        },
        receiver: |ends| sprout(ends, Call::of(ends, "src/examples/sproutbt2", &[PORT])),
    },
    Peer {
        name: "verus",
        program: "verus_server",
        controller: "verus",
        // Its server sends, to any client.
        waits: End::Near,
        sender: |ends| {
            let seconds = ends.duration.as_secs().to_string();
            let arguments = ["-name", "verus", "-p", PORT, "-t", &seconds];
            Call::of(ends, "src/verus_server", &arguments)
        },
        receiver: |ends| {
            let near = ends.near.to_string();
            Call::of(ends, "src/verus_client", &[&near, "-p", PORT])
        },
    },
];

/// It reads the model of its link from a file.
fn sprout(ends: &Ends, call: Call) -> Call {
    Call {
        environment: vec![("SPROUT_MODEL_IN", ends.folder.join("src/examples/sprout.model"))],
        ..call
    }
}
