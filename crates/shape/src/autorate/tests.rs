//! Configurations in the manner of users' files, and lines that only bash could run.

use std::format;
use std::string::ToString;
use std::vec;

use super::*;

/// The output's lines that are no comments and not empty.
fn values(text: &str) -> Vec<String> {
    let toml = import(text).expect("a configuration").toml;
    let lines = toml.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split("  #").next().unwrap_or_default().to_owned()).collect()
}

fn remarks(text: &str) -> Vec<String> {
    import(text).expect("a configuration").remarks.iter().map(ToString::to_string).collect()
}

/// Remarks about a file that also sets a key with an equivalent, in its first line.
fn remarks_below(lines: &str) -> Vec<String> {
    remarks(&format!("ul_if=wwan0\n{lines}"))
}

fn has_fault(text: &str) -> bool {
    import(text).expect("a configuration").remarks.iter().any(|remark| remark.what.is_fault())
}

const WHOLE: &str = "\
#!/usr/bin/env bash
dl_if=ifb4wwan0 # of the shaper below
ul_if=\"wwan0\"

min_dl_shaper_rate_kbps=2500
base_dl_shaper_rate_kbps='30000'   # evenings
export max_dl_shaper_rate_kbps=120000
min_ul_shaper_rate_kbps=1000; base_ul_shaper_rate_kbps=8000
max_ul_shaper_rate_kbps=\\
40500
";

#[test]
fn devices_and_limits_become_the_section() {
    let expected = [
        "[shape]",
        "interface = \"wwan0\"",
        "manage = false",
        "[shape.uplink]",
        "device = \"wwan0\"",
        "min = \"1Mbit\"",
        "base = \"8Mbit\"",
        "max = \"40500kbit\"",
        "[shape.downlink]",
        "device = \"ifb4wwan0\"",
        "min = \"2500kbit\"",
        "base = \"30Mbit\"",
        "max = \"120Mbit\"",
    ];
    assert_eq!(values(WHOLE), expected);
    assert_eq!(remarks(WHOLE), Vec::<String>::new());
    assert_eq!(import(WHOLE).map(|imported| imported.mapped), Some(8));
}

#[test]
fn line_ends_of_windows_and_a_mark_change_nothing() {
    let windows = format!("\u{FEFF}{}", WHOLE.replace('\n', "\r\n"));
    assert_eq!(import(&windows), import(WHOLE));
}

#[test]
fn keys_that_the_file_lacks_have_the_defaults_of_cake_autorate() {
    let toml = import("ul_if=wwan0").expect("a configuration").toml;
    let max = "max = \"35Mbit\"  # cake-autorate's default: the file does not set it\n";
    assert!(toml.contains(max), "{toml}");
    assert!(values("ul_if=wwan0").contains(&"device = \"ifb-wan\"".into()));
}

#[test]
fn a_direction_that_is_not_adjusted_is_left_out_with_its_line() {
    let text = "ul_if=wwan0\nadjust_dl_shaper_rate=0\nmin_dl_shaper_rate_kbps=9000000\n";
    let toml = import(text).expect("a configuration").toml;
    assert!(toml.contains("\n# No [shape.downlink]: adjust_dl_shaper_rate is 0 in line 2.\n"));
    assert!(!toml.contains("\n[shape.downlink]") && toml.contains("\n[shape.uplink]"), "{toml}");
    assert!(!has_fault(text));
    let both = format!("{text}adjust_ul_shaper_rate=0");
    assert!(import(&both).expect("a configuration").toml.contains("`sounding shape --observe`"));
}

#[test]
fn reflectors_over_several_lines_are_one_remark_without_a_fault() {
    let text = "ul_if=wwan0\nreflectors=(\n\"192.0.2.1\" # one\n'192.0.2.2'\n)\nno_pingers=4\n";
    assert_eq!(
        remarks(text),
        [
            "lines 2 to 5: reflectors: no equivalent: Sounding sends no pings",
            "line 6: no_pingers: no equivalent: Sounding sends no pings",
        ]
    );
    assert!(!has_fault(text));
}

#[test]
fn a_computed_value_counts_only_where_it_has_an_equivalent() {
    let text = "log_file_path_override=\"/tmp/$(date +'%F')\"\nreflectors=( $(cat 'my list)') )\n";
    assert!(!has_fault(text));
    for value in [
        "$MAX",
        "$((80 * 1000))",
        "`cat max`",
        "\"${MAX:-\"80000\"}\"",
        "$'80000'",
        "$[8]",
        "$x$",
        "~",
    ] {
        let text = format!("max_dl_shaper_rate_kbps={value}\nul_if=wwan0\n");
        let imported = import(&text).expect("a configuration");
        let [remark] = imported.remarks.as_slice() else { panic!("{value}: {imported:?}") };
        assert_eq!(remark.what, What::Unread(Unread::Computed), "{value}");
        let line = "\n# max = …  # line 1 could not be read\n";
        assert!(imported.toml.contains(line), "{}", imported.toml);
    }
}

#[test]
fn a_value_that_its_key_cannot_have_is_not_read() {
    for value in ["", "80k", "-1", "0x10", "080000", "8e4", "1.5", "18446744073709551615", "(1 2)"]
    {
        let text = format!("base_ul_shaper_rate_kbps={value}");
        assert!(has_fault(&text), "{value}");
        assert!(import(&text).expect("a configuration").toml.contains("# base = …"), "{value}");
    }
    for name in ["", "a-name-too-long!", "a/b", "'a b'", "\"a\\\"b\"", "wän0", "a\u{1b}b", ".."] {
        let text = format!("ul_if={name}");
        let text = import(&text).expect("a configuration");
        let [remark] = text.remarks.as_slice() else { panic!("{name}: {text:?}") };
        assert_eq!(remark.what, What::Value("the name of a network device"), "{name}");
    }
}

#[test]
fn the_last_of_several_lines_counts_and_the_others_are_named() {
    let text = "ul_if=wwan0\nul_if=wwan1 ul_if=wwan2\n";
    assert!(values(text).contains(&"interface = \"wwan2\"".into()));
    assert_eq!(
        remarks(text),
        ["line 1: ul_if: line 2 sets it again", "line 2: ul_if: line 2 sets it again"]
    );
    assert!(!has_fault(text));
}

#[test]
fn limits_out_of_order_are_a_fault_at_their_last_line() {
    let text = "ul_if=wwan0\nmin_ul_shaper_rate_kbps=9000\nbase_ul_shaper_rate_kbps=8000\n";
    let [remark] = &remarks(text)[..] else { panic!() };
    assert!(remark.starts_with("line 3: the limits of this direction must be"), "{remark}");
    assert!(has_fault("min_dl_shaper_rate_kbps=0"));
    assert!(has_fault("base_ul_shaper_rate_kbps=40000"), "the default of max is 35 Mbit/s");
}

#[test]
fn commands_set_nothing_and_are_passed_over_by_their_lines() {
    let not_run = |lines: &str| remarks_below(&format!("{lines}\nul_if=wwan1\n"));
    for (lines, last, words) in [
        ("ul_if=bad command", 2, "a command"),
        ("ul_if=bad | cat", 2, "a command"),
        ("ul_if=bad export", 2, "a command"),
        ("[ -f x ] &&\nul_if=bad", 3, "a command"),
        ("exit; ul_if=bad", 2, "a command"),
        ("unset ul_if", 2, "a command"),
        (";ul_if=bad", 2, "a command"),
        ("ul_if[0]=bad", 2, "a command"),
        (". ./more.sh", 2, "another file"),
        ("source more.sh", 2, "another file"),
        ("if true; then\nul_if=bad\nfi", 4, "a condition"),
        ("case $x in\n(a) ul_if=bad;; b) ul_if=bad;;\nesac", 4, "a condition"),
        ("for x in a b; do\nwhile y; do\nul_if=bad; done\ndone", 5, "a condition"),
        ("{ true\nul_if=bad\n}", 4, "a condition"),
        ("( true\nul_if=bad )", 3, "a condition"),
        ("f() {\nul_if=bad\n}", 4, "a function"),
        ("function f\n{\nul_if=bad\n}", 2, "a function"),
        ("function f {\nul_if=bad\n}", 4, "a function"),
        ("cat > file <<-'END'\nul_if=bad\n\tEND", 4, "a command"),
        ("cat <<A <<B # two\nul_if=bad\nA\nul_if=bad\nB", 6, "a command"),
        ("echo 'fi\nul_if=bad' # it's", 3, "a command"),
        ("read -r x <<< \"$(\nul_if=bad)\"", 3, "a command"),
    ] {
        let said = not_run(lines);
        let place = if last == 2 { "line 2: ".into() } else { format!("lines 2 to {last}: ") };
        let at = said.iter().find(|remark| remark.contains(words));
        assert!(at.is_some_and(|remark| remark.starts_with(&place)), "{lines}: {said:?}");
        let text = format!("ul_if=wwan0\n{lines}\nul_if=wwan1\n");
        assert!(values(&text).contains(&"interface = \"wwan1\"".into()), "{lines}");
        assert!(!said.iter().any(|remark| remark.contains("bad")), "{lines}");
    }
}

#[test]
fn lines_after_an_open_quote_or_block_are_not_read() {
    for lines in ["x='", "x=\"$(", "x=(a", "if true; then", "cat <<END", "echo \"`", "x=$'\\"] {
        let text = format!("ul_if=wwan0\n{lines}\nul_if=wwan1");
        let said = remarks(&text);
        let last = "a quote, a bracket or a block begins here and does not end";
        assert!(said.iter().any(|remark| remark.contains(last)), "{lines}: {said:?}");
        assert!(values(&text).contains(&"interface = \"wwan0\"".into()), "{lines}");
    }
}

#[test]
fn a_file_without_keys_of_cake_autorate_is_no_configuration() {
    for text in ["", "# ul_if=wan", "x=1\necho ul_if=wan", "\0\u{FFFD}", "if ul_if=wan"] {
        assert_eq!(import(text), None, "{text}");
    }
}

#[test]
fn an_unknown_key_is_a_fault_and_is_cut_to_forty_characters() {
    let long = vec!["k"; 100].concat();
    let said = remarks_below(&format!("{long}=1\n"));
    let key = vec!["k"; 40].concat();
    assert_eq!(
        said,
        [format!("line 2: {key}…: not read: cake-autorate 1.0 to 3.5 has no such key")]
    );
}
