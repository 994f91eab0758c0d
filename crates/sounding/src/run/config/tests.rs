use sounding_bpf::{LawConfig, Sharing};
use sounding_laws::Fallback;
use sounding_modem::{SnifferSource, Source};

use super::cc::LawPlan;
use super::*;
use crate::cli_types::{CcWord, FallbackWord};
use crate::run::share::ApplicationWord;

mod example;
mod several;

fn parse(text: &str, flags: Flags) -> Result<Config, ConfigError> {
    let file = toml::from_str(text)
        .map_err(|error| ConfigError::Parse { path: "test".into(), error: Box::new(error) })?;
    Config::merge(file, flags)
}

impl Config {
    fn source(&self) -> Option<Source> {
        self.modems.first().map(|modem| modem.source.clone())
    }

    /// The only congestion control, which is a law's.
    fn only(&self) -> (&LawPlan, &Chosen) {
        match &self.algorithms[..] {
            [chosen @ Chosen { algorithm: Algorithm::Law(plan), .. }] => (plan, chosen),
            others => panic!("{others:?}"),
        }
    }

    /// Its law and its name.
    fn named(&self) -> (Law, &str) {
        let (plan, chosen) = self.only();
        (plan.law, &chosen.name)
    }

    fn plan(&self) -> &ModemPlan {
        self.modems.first().expect("a modem")
    }
}

fn law(law: Law) -> Flags {
    Flags { law: vec![CcWord::Law(law)], ..Flags::default() }
}

#[test]
fn the_example_is_a_configuration() {
    let config = parse(EXAMPLE, Flags::default()).expect("the example");
    assert_eq!(config.source(), Some(Source::Path("/dev/ttyUSB0".into())));
    assert_eq!((config.plan().mask, config.plan().budget), (true, Some(BUDGET)));
    assert_eq!(config.base.window, Duration::from_millis(100));
    let config = parse(EXAMPLE, law(Law::Sounding)).expect("the example");
    assert_eq!(config.named(), (Law::Sounding, "sounding"));
}

#[test]
fn what_the_example_only_mentions_of_the_law_is_the_default() {
    let settings = LawConfig::default();
    for line in [
        format!("# allowance = \"{}ms\"\n", settings.allowance.as_millis()),
        format!("# pacing_gain = {}\n", f64::from(settings.pacing_gain_permille) / 1000.0),
    ] {
        assert!(EXAMPLE.contains(&line), "{line}");
    }
}

#[test]
fn the_law_has_its_own_span_unless_one_is_configured() {
    let window = |cc: &str| {
        let config = parse(&format!("[modem]\ndevice = 'x'\n{cc}"), Flags::default());
        let config = config.expect("fine");
        let needs: Vec<_> = config.sections().iter().map(|asked| asked.section.needs()).collect();
        needs[0].estimates[0].window
    };
    let ms = Duration::from_millis;
    assert_eq!(window("[cc]\nlaw = 'biscay'"), ms(100));
    assert_eq!(window("[cc]\nlaw = 'sounding'"), sounding_laws::sounding::SPAN);
    assert_eq!(window("[link]\nwindow = '50ms'\n[cc]\nlaw = 'sounding'"), ms(50));
}

#[test]
fn a_byte_order_mark_before_the_file_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sounding.toml");
    std::fs::write(&path, format!("\u{feff}{EXAMPLE}")).expect("room");
    let config = Config::load(Some(&path), Flags::default()).expect("the example");
    assert_eq!(config.source(), Some(Source::Path("/dev/ttyUSB0".into())));
}

#[test]
fn flags_win_over_the_file() {
    let flags = Flags { device: Some("/dev/pts/7".into()), ..Flags::default() };
    let config = parse("[modem]\ndevice = '/dev/ttyUSB0'", flags).expect("fine");
    assert_eq!(config.source(), Some(Source::Path("/dev/pts/7".into())));
}

#[test]
fn a_modem_can_be_left_alone_and_a_budget_can_be_none() {
    let file = "[modem]\ndevice = 'tcp:phone:43555'\nmask = false\nbudget = '0bit'";
    let config = parse(file, Flags::default()).expect("fine");
    assert_eq!(config.source(), Some(Source::Tcp("phone:43555".into())));
    assert_eq!((config.plan().mask, config.plan().budget), (false, None));
    let error = parse("[modem]\ndevice = 'tcp:phone'", Flags::default()).expect_err("no port");
    assert!(error.to_string().contains("tcp:HOST:PORT"), "{error}");
}

#[test]
fn only_a_server_that_hears_its_peers_does_without_a_modem() {
    let error = parse("", Flags::default()).expect_err("no modem");
    assert!(matches!(error, ConfigError::NoDevice), "{error}");
    let error = parse("[downlink]\nsignal = 'window'\npeers = true", Flags::default());
    assert!(matches!(error, Err(ConfigError::NoDevice)));
    let config = parse("[downlink]\npeers = true", Flags::default()).expect("a server");
    assert_eq!(config.source(), None);
}

#[test]
fn processors_sleep_as_they_like_unless_told_otherwise() {
    let device = "[modem]\ndevice = 'x'\n";
    assert_eq!(parse(device, Flags::default()).expect("fine").plan().cpu_latency, None);
    let file = format!("{device}cpu_latency = '20us'");
    let config = parse(&file, Flags::default()).expect("fine");
    assert_eq!(config.plan().cpu_latency, Some(Duration::from_micros(20)));
    let flags = Flags { cpu_latency: Some(Duration::ZERO), ..Flags::default() };
    assert_eq!(parse(&file, flags).expect("fine").plan().cpu_latency, Some(Duration::ZERO));
}

#[test]
fn the_law_is_biscays_unless_told_otherwise_and_names_what_has_no_name() {
    let device = "[modem]\ndevice = 'x'\n";
    let config = parse(device, Flags::default()).expect("fine");
    assert_eq!(config.named(), (Law::Biscay, "biscay"));
    let file = format!("{device}[cc]\nlaw = 'sounding'");
    let config = parse(&file, Flags::default()).expect("fine");
    assert_eq!(config.named(), (Law::Sounding, "sounding"));
    let config = parse(&file, law(Law::Biscay)).expect("fine");
    assert_eq!(config.named().0, Law::Biscay);
    let flags = Flags { name: Some("mine".into()), ..Flags::default() };
    let config = parse(&file, flags).expect("fine");
    assert_eq!(config.named(), (Law::Sounding, "mine"));
    let error = parse(&format!("{file}\nallowance = '5ms'"), Flags::default());
    assert!(matches!(error, Err(ConfigError::NotOfThisLaw)));
    let error = parse(&format!("{device}[cc]\nlaw = 'reno'"), Flags::default()).unwrap_err();
    for law in Law::ALL {
        assert!(error.to_string().contains(&format!("`{law}`")), "{error}");
    }
}

#[test]
fn flows_fall_back_to_bbr_unless_told_otherwise() {
    let device = "[modem]\ndevice = 'x'\n";
    assert_eq!(parse(device, Flags::default()).expect("fine").only().0.fallback, Fallback::Bbr);
    let file = format!("{device}[cc]\nfallback = 'cubic'");
    assert_eq!(parse(&file, Flags::default()).expect("fine").only().0.fallback, Fallback::Cubic);
    let flags = Flags { fallback: Some(FallbackWord::Bbr), ..Flags::default() };
    assert_eq!(parse(&file, flags).expect("fine").only().0.fallback, Fallback::Bbr);
    let error = parse(&format!("{device}[cc]\nfallback = 'reno'"), Flags::default()).unwrap_err();
    assert!(error.to_string().contains("`bbr` or `cubic`"), "{error}");
}

#[test]
fn flows_share_alike_unless_told_otherwise() {
    let device = "[modem]\ndevice = 'x'\n";
    let config = parse(device, Flags::default()).expect("fine");
    assert_eq!(config.only().0.sharing, Sharing::default());
    assert!(!config.counts_others);
    let file = format!(
        "{device}interfaces = ['wwan0']\n[cc]\nshare = 'weighted'\n[cc.weights]\n'port:443' = 2"
    );
    let config = parse(&file, Flags::default()).expect("fine");
    assert!(config.counts_others && config.only().0.sharing.weights.len() == 1);
    let flags = Flags { weight: vec!["port:80=1".into()], ..Flags::default() };
    assert_eq!(parse(&file, flags).expect("fine").only().0.sharing.weights.len(), 2);
    assert!(parse(&format!("{device}[cc]\nshare = 'fair'"), Flags::default()).is_err());
}

#[test]
fn sniffers_are_for_rates_by_the_cell_and_of_the_downlink_where_that_is_reported() {
    let device = "[modem]\ndevice = 'x'\n";
    let file = format!("{device}[link]\nmethod = 'cell'\nsniffers = ['udp:127.0.0.1:6767']");
    let config = parse(&file, Flags::default()).expect("fine");
    let udp: SnifferSource = "udp:127.0.0.1:6767".parse().expect("a sniffer");
    assert_eq!(
        (&config.plan().sniffers[..], config.plan().sniffed),
        (&[udp][..], Direction::Uplink)
    );
    let log: SnifferSource = "dcilog:a.dciLog".parse().expect("a sniffer");
    let flags = Flags { sniffer: vec![log.clone()], ..Flags::default() };
    let both = format!("{file}\n[downlink]\nsignal = 'option'");
    let config = parse(&both, flags).expect("fine");
    assert_eq!(
        (&config.plan().sniffers[..], config.plan().sniffed),
        (&[log.clone()][..], Direction::Downlink)
    );
    // In the file they may wait for the method.
    let grants = file.replace("cell", "grants");
    assert!(parse(&grants, Flags::default()).expect("fine").plan().sniffers.is_empty());
    let flags = Flags { sniffer: vec![log.clone()], ..Flags::default() };
    assert!(matches!(parse(&grants, flags), Err(ConfigError::Unused(_))));
    let flags = Flags { sniffer: vec![log; 9], ..Flags::default() };
    assert!(matches!(parse(&file, flags), Err(ConfigError::Sniffers(9))));
    let error = parse(&file.replace("udp:", "tcp:"), Flags::default()).expect_err("none");
    assert!(error.to_string().starts_with("link.sniffers: "), "{error}");
}

#[test]
fn a_key_that_nothing_knows_is_named_with_its_line() {
    let error = parse("[link]\nwindoww = '1s'", Flags::default()).expect_err("a typing error");
    let text = error.to_string();
    assert!(text.contains("line 2") && text.contains("windoww"), "{text}");
}

#[test]
fn a_wrong_word_is_answered_with_the_right_ones() {
    let error = parse("[link]\nmethod = 'guess'", Flags::default()).expect_err("no such word");
    let text = error.to_string();
    assert!(text.contains("grants") && text.contains("formula"), "{text}");
}

#[test]
fn absurd_values_are_refused() {
    let device = "[modem]\ndevice = 'x'\n";
    for (text, is_expected) in [
        ("[link]\nwindow = '0s'", matches_range as fn(&ConfigError) -> bool),
        ("[link]\nwindow = '100'", |e| matches!(e, ConfigError::Time { .. })),
        ("[cc]\nname = 'sixteen_letters_'", |e| matches!(e, ConfigError::Name(_))),
        ("[cc]\nname = 'a b'", |e| matches!(e, ConfigError::Name(_))),
        ("[cc]\nname = 'Biscay'", |e| matches!(e, ConfigError::Name(_))),
        ("[cc]\nname = 'pbe-cc'", |e| matches!(e, ConfigError::Name(_))),
        ("[cc]\nroutes = ['10.0.0.0/33']", |e| matches!(e, ConfigError::Prefix(_))),
        ("[cc]\nroutes = ['wwan0']", |e| matches!(e, ConfigError::Prefix(_))),
        ("[link]\nmethod = 'cqi'", |e| matches!(e, ConfigError::NoCqi)),
    ] {
        let error = parse(&format!("{device}{text}"), Flags::default()).expect_err(text);
        assert!(is_expected(&error), "{text}: {error}");
    }
}

#[test]
fn prefixes_are_those_of_both_families_and_the_default() {
    let routes = ["default", "10.0.0.0/8", "192.0.2.1", "2001:db8::/32"];
    let file = format!("[modem]\ndevice = 'x'\n[cc]\nroutes = {routes:?}");
    assert_eq!(parse(&file, Flags::default()).expect("fine").only().1.new_flows.routes, routes);
}

#[test]
fn a_flag_that_would_not_be_looked_at_is_refused_and_a_line_of_the_file_is_not() {
    let device = "[modem]\ndevice = 'x'\n";
    let flags = [
        Flags { application: Some(ApplicationWord::Cgroup), ..Flags::default() },
        Flags { kpi: vec!["all".into()], ..Flags::default() },
        Flags { cqi_rates: Some("cells".into()), ..Flags::default() },
    ];
    for flags in flags {
        let error = parse(device, flags).expect_err("not looked at");
        assert!(matches!(error, ConfigError::Unused { .. }), "{error}");
    }
    let file = format!(
        "{device}[cc]\napplication = 'cgroup'\n[board]\nkpis = ['all']\n[link]\ncqi_rates = 'cells'"
    );
    parse(&file, Flags::default()).expect("fine");
}

fn matches_range(error: &ConfigError) -> bool {
    matches!(error, ConfigError::WindowRange(_))
}

#[test]
fn a_law_that_goes_by_channel_reports_has_none_in_the_uplink() {
    let of = |direction: &str| {
        let file =
            format!("[modem]\ndevice = 'x'\n[link]\ndirection = '{direction}'\n[cc]\nlaw = 'cqic'");
        parse(&file, Flags::default()).expect("fine")
    };
    assert_eq!(of("downlink").base.method, Method::Cqi);
    let file = "[link]\ndirection = 'downlink'\nmethod = 'cqi'\ncqi_rates = 'cells'";
    let kept = parse(&format!("[modem]\ndevice = 'x'\n{file}"), Flags::default()).expect("fine");
    assert_eq!(kept.plan().cqi_rates.as_deref(), Some(Path::new("cells")));
    let uplink = of("uplink");
    assert_eq!((uplink.base.method, uplink.only().0.fallback), (Method::Grants, Fallback::Cubic));
}

fn names(config: &Config) -> Vec<String> {
    config.sections().iter().map(|asked| asked.section.name()).collect()
}

#[test]
fn each_section_of_the_file_is_an_output() {
    let file = "[modem]\ndevice = 'x'\n\
        [[cc]]\nlaw = 'biscay'\ndefault = true\n\
        [[cc]]\nlaw = 'sounding'\n\
        [[cc]]\nlaw = 'copa'\nroutes = ['default']\n\
        [[cc]]\nlaw = 'background'\n\
        [downlink]\nsignal = 'window'\n\
        [arrivals]\ninterface = 'wwan0'\n[calls]\nsocket = '/run/call'\n[board]\nname = 'modem'";
    let config = parse(file, Flags::default()).expect("fine");
    let all = ["biscay", "sounding", "copa_gandalf", "background", "downlink"];
    let others = ["arrivals wwan0", "calls /run/call", "board modem"];
    assert_eq!(names(&config), [&all[..], &others[..]].concat());
    let none = file.replace("[[cc]]\nlaw = 'biscay'\ndefault = true\n", "");
    let none = none.replace("[[cc]]\nlaw = 'sounding'\n", "[[cc]]\nlaw = 'none'\n");
    let config = parse(&none, Flags::default()).expect("fine");
    assert_eq!(names(&config), [&all[2..], &others[..]].concat());
}

#[test]
fn flags_choose_several_laws_and_the_first_has_the_name() {
    let words = vec![CcWord::Law(Law::Sounding), CcWord::Law(Law::Biscay)];
    let flags = Flags { law: words, copa: true, name: Some("mine".into()), ..Flags::default() };
    let file = "[modem]\ndevice = 'x'\n[cc]\nlaw = 'biscay'\nfallback = 'cubic'";
    let config = parse(file, flags).expect("fine");
    assert_eq!(names(&config), ["mine", "biscay", "copa_gandalf"]);
    let fallback = |at: usize| match &config.algorithms[at].algorithm {
        Algorithm::Law(plan) => plan.fallback,
        other => panic!("{other:?}"),
    };
    assert_eq!((fallback(0), fallback(1)), (Fallback::Bbr, Fallback::Cubic));
}

#[test]
fn a_name_a_default_and_a_route_are_had_once() {
    let two = |what: &str| {
        format!("[modem]\ndevice = 'x'\n[[cc]]\n{what}\n[[cc]]\nlaw = 'sounding'\n{what}")
    };
    for (what, said) in [
        ("name = 'same'", "cc.name: same stands twice"),
        ("default = true", "cc.default"),
        ("routes = ['10.0.0.0/8']", "10.0.0.0/8 stands twice"),
    ] {
        let error = parse(&two(what), Flags::default()).expect_err(what).to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_key_that_an_algorithm_does_not_have_is_refused() {
    for (text, said) in [
        ("law = 'copa'\nfallback = 'bbr'", "cc.fallback: copa has none"),
        ("law = 'background'\nshare = 'app'", "cc.share: background has none"),
        ("law = 'biscay'\ncgroup = '/'", "cc.cgroup: biscay has none"),
    ] {
        let file = format!("[modem]\ndevice = 'x'\n[cc]\n{text}");
        let error = parse(&file, Flags::default()).expect_err(text).to_string();
        assert!(error.contains(said), "{error}");
    }
    let flags = Flags { background: true, fallback: Some(FallbackWord::Bbr), ..Flags::default() };
    assert!(matches!(parse("", flags), Err(ConfigError::Unused(_))));
}

#[test]
fn a_modem_that_nothing_reads_is_refused_and_background_needs_none() {
    let background = || Flags { background: true, ..Flags::default() };
    assert_eq!(names(&parse("", background()).expect("fine")), ["background"]);
    let read = parse("[modem]\ndevice = 'x'", background());
    assert!(matches!(read, Err(ConfigError::NoReader)));
    let copa = Flags { copa: true, ..Flags::default() };
    assert_eq!(names(&parse("", copa).expect("plain Copa")), ["copa_gandalf"]);
    for lone in ["[board]\nname = 'modem'", "[arrivals]\ninterface = 'lo'"] {
        let error = parse(lone, background()).expect_err(lone);
        assert!(matches!(error, ConfigError::NoDevice), "{error}");
    }
}
