//! Several modems, and sections that read one of them.

use super::*;

/// Two modems, and what else the file says.
fn two(more: &str) -> String {
    format!(
        "[[modem]]\nname = 'wan'\ndevice = '/dev/ttyUSB0'\ninterfaces = ['wwan0']\n\
         [[modem]]\nname = 'lte'\ndevice = '/dev/ttyUSB4'\ninterfaces = ['wwan1']\n{more}"
    )
}

fn refused(file: &str) -> String {
    parse(file, Flags::default()).expect_err(file).to_string()
}

/// The outputs, each with its modem.
fn outputs(config: &Config) -> Vec<(String, Option<String>)> {
    config.sections().into_iter().map(|asked| (asked.section.name(), asked.modem)).collect()
}

#[test]
fn a_single_modem_has_a_name_whether_it_is_a_table_or_the_only_one_of_a_list() {
    let table = parse("[modem]\ndevice = 'x'", Flags::default()).expect("fine");
    let list = parse("[[modem]]\ndevice = 'x'", Flags::default()).expect("fine");
    assert_eq!((&table.plan().name[..], &list.plan().name[..]), ("modem", "modem"));
    let named = parse("[modem]\nname = 'wan'\ndevice = 'x'", Flags::default()).expect("fine");
    assert_eq!(named.plan().name, "wan");
}

#[test]
fn several_modems_are_read_and_each_output_has_its_own() {
    let config = parse(
        &two("[[cc]]\nlaw = 'sounding'\n\
             [downlink]\nmodem = 'lte'\nsignal = 'window'\n\
             [arrivals]\nmodem = 'wan'\ninterface = 'media0'\n\
             [calls]\nmodem = 'lte'\nsocket = '/run/call'\n\
             [[shape]]\nmodem = 'wan'\n[shape.uplink]\nmax = '20Mbit'\n\
             [[shape]]\nmodem = 'lte'\n\
             [board]\nmodem = 'wan'\nname = 'wan'"),
        Flags::default(),
    )
    .expect("fine");
    let of = |name: &str| Some(name.to_owned());
    let expected = [
        ("sounding", None),
        ("downlink", of("lte")),
        ("arrivals media0", of("wan")),
        ("calls /run/call", of("lte")),
        ("shape wan uplink", of("wan")),
        ("shape lte uplink", of("lte")),
        ("shape lte downlink", of("lte")),
        ("board wan", of("wan")),
    ];
    assert_eq!(outputs(&config), expected.map(|(name, modem)| (name.to_owned(), modem)));
    assert!(config.counts_others);
    config.check_devices().expect("they are named");
    // A shaper has the device of its modem.
    let shapers: Vec<String> =
        config.sections().iter().map(|asked| format!("{:?}", asked.section)).collect();
    assert!(shapers[4].contains("interface: Some(\"wwan0\")"), "{}", shapers[4]);
    assert!(shapers[6].contains("interface: Some(\"wwan1\")"), "{}", shapers[6]);
}

#[test]
fn a_modem_among_several_needs_a_name_a_device_and_a_place() {
    let more = |text: &str| refused(&two(text));
    let unnamed = more("[[modem]]\ndevice = 'x'\ninterfaces = ['wwan2']");
    assert!(unnamed.contains("write name = \"wan\""), "{unnamed}");
    let portless = more("[[modem]]\nname = 'c'");
    assert!(portless.contains("modem: c has no device"), "{portless}");
    let bad = more("[[modem]]\nname = 'a b'\ndevice = 'x'");
    assert!(bad.contains("\"a b\" is not 1 to 15 letters"), "{bad}");
    let many = "[[modem]]\n".repeat(3);
    assert!(more(&many).contains("modem: 5 of them, and there is room for 4"));
    for (text, said) in [
        ("name = 'wan'\ndevice = 'x'", "modem.name: wan stands in two"),
        ("name = 'c'\ndevice = '/dev/ttyUSB4'", "modem.device: /dev/ttyUSB4 stands in two"),
        ("name = 'c'\ndevice = 'x'\ninterfaces = ['wwan1']", "modem.interfaces: wwan1 stands"),
    ] {
        let error = more(&format!("[[modem]]\n{text}"));
        assert!(error.contains(said), "{error}");
    }
    let nine = "interfaces = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']";
    let error = refused(&format!("[modem]\ndevice = 'x'\n{nine}"));
    assert!(error.contains("modem.interfaces: 9 of them"), "{error}");
}

#[test]
fn of_several_modems_one_without_a_known_network_device_is_refused() {
    let file = two("").replace("interfaces = ['wwan1']\n", "");
    let config = parse(&file, Flags::default()).expect("its port may show the device");
    let error = config.check_devices().expect_err("no port is there").to_string();
    assert!(
        error.contains("no network device of lte is known")
            && error.contains("write interfaces = [\"wwan0\"] in its [[modem]]"),
        "{error}"
    );
    let one = parse("[modem]\ndevice = 'x'", Flags::default()).expect("fine");
    one.check_devices().expect("a single one needs none");
}

#[test]
fn a_section_that_reads_one_modem_says_which() {
    for (section, text) in [
        ("downlink", "[downlink]\nsignal = 'window'"),
        ("arrivals", "[arrivals]\ninterface = 'lo'"),
        ("calls", "[calls]\nsocket = '/run/call'"),
        ("board", "[board]\nname = 'b'"),
        ("shape", "[shape]"),
    ] {
        let error = refused(&two(text));
        let said = format!("{section}.modem: it reads one of the modems wan, lte");
        assert!(error.starts_with(&said) && error.contains("write modem = \"wan\""), "{error}");
        let named = text.replacen("]\n", "]\nmodem = 'dsl'\n", 1);
        let named = if named == text { format!("{text}\nmodem = 'dsl'") } else { named };
        let error = refused(&two(&named));
        assert!(error.contains("\"dsl\" is none of the modems"), "{error}");
    }
    let twice = "[[shape]]\nmodem = 'wan'\n[[shape]]\nmodem = 'wan'\n[shape.downlink]";
    let error = refused(&two(twice));
    assert!(error.contains("downlink of modem wan stands in two"), "{error}");
}

#[test]
fn flags_and_keys_about_one_modem_are_refused_beside_several() {
    let flags = [
        (Flags { device: Some("x".into()), ..Flags::default() }, "--device"),
        (Flags { no_mask: true, ..Flags::default() }, "--no-mask"),
        (Flags { budget: Some(BUDGET), ..Flags::default() }, "--budget"),
        (Flags { interface: vec!["wwan0".into()], ..Flags::default() }, "--interface"),
    ];
    for (flags, flag) in flags {
        let error = parse(&two(""), flags).expect_err(flag).to_string();
        assert!(error.starts_with(flag) && error.contains("write it in the [[modem]]"), "{error}");
    }
    let link = "[link]\nmethod = 'cell'\nsniffers = ['udp:127.0.0.1:6767']";
    let error = refused(&two(link));
    assert!(error.contains("link.sniffers is about one modem"), "{error}");
    let own = two("[link]\nmethod = 'cell'").replacen(
        "interfaces = ['wwan0']",
        "interfaces = ['wwan0']\nsniffers = ['udp:127.0.0.1:6767']",
        1,
    );
    let config = parse(&own, Flags::default()).expect("each has its own");
    assert_eq!((config.modems[0].sniffers.len(), config.modems[1].sniffers.len()), (1, 0));
}
