//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/autorate"))
}

/// The seeds: name, text, and how many settings are taken over; `None` if it is no configuration.
const SEEDS: &[(&str, &[u8], Option<usize>)] = &[
    (
        "whole",
        b"dl_if=ifb4wwan0 # x\nul_if=\"wwan0\"\nmin_dl_shaper_rate_kbps='2000'\n\
          base_dl_shaper_rate_kbps=30000; max_dl_shaper_rate_kbps=\\\n120500\nadjust_ul_shaper_rate=0\n",
        Some(6),
    ),
    ("windows", b"\xEF\xBB\xBFul_if=wan\r\nreflectors=(\r\n\"192.0.2.1\" # a\r\n)\r\n", Some(1)),
    ("many-in-a-line", b"export ul_if=wan dl_if=lan;debug=1 export x\n", Some(2)),
    ("computed", b"ul_if=${x:-\"a}\"} dl_if=$(a (b) `c` '\"') max_ul_shaper_rate_kbps=$((1<<9))", Some(0)),
    ("appended", b"max_ul_shaper_rate_kbps+=1\nreflectors+=( a )\nul_if=~\n", Some(0)),
    ("escapes", b"ul_if=w\\an dl_if=\"i\\f\\\"b\" debug=$'\\'' log_to_file=$\"1\"", Some(1)),
    ("disorder", b"min_ul_shaper_rate_kbps=0\nbase_dl_shaper_rate_kbps=18446744073709551\n", Some(2)),
    ("too-much", b"min_ul_shaper_rate_kbps=18446744073709552\nul_if=\n", Some(0)),
    ("blocks", b"if a; then\nul_if=x; fi\ncase b in c) d;; esac\nf() { e\n}\n( g )\nul_if=wan\n", Some(1)),
    ("documents", b"cat <<-'A' <<B &&\n\tA\nul_if=x\nB\ndl_if=x\nul_if=wan\n", Some(1)),
    ("operators", b"ul_if=x|y\nul_if=x &\nul_if=x &&\nul_if=x\n>&2 <&1 <<<x\nul_if=wan", Some(1)),
    ("open-quote", b"ul_if=wan\n\"\nul_if=x", Some(1)),
    ("open-array", b"ul_if=wan\nreflectors=( a\n", Some(1)),
    ("array-that-goes-on", b"ul_if=wan\nreflectors=(a)b\nreflectors=(a;)\n", Some(1)),
    ("controls", b"ul_if=\x1b]0;x\x07\ndl_if=\xE2\x80\xAEx\n\x1b[2J=1\n", Some(0)),
    ("other-encodings", b"# \xE4\xF6\xFC\nul_if=wan\n\xFF=\xFE\n", Some(1)),
    ("continued-end", b"ul_if=wan\n\\\n\\", Some(1)),
    ("stray-signs", b"ul_if=wan\n;ul_if=x\ndl_if=$x$ debug=$[1;]\nul_if=a\\", Some(0)),
    ("nothing", b"# ul_if=wan\nx=1\n", None),
];

#[test]
fn seeds_are_configurations_or_are_none() {
    for &(name, _, mapped) in SEEDS {
        let seed = std::fs::read(corpus().join(name)).unwrap();
        let imported = targets::autorate(&seed);
        assert_eq!(imported.as_ref().map(|of| of.mapped), mapped, "{name}: {imported:#?}");
    }
}

#[test]
fn every_seed_does_no_harm() {
    for file in std::fs::read_dir(corpus()).unwrap() {
        targets::autorate(&std::fs::read(file.unwrap().path()).unwrap());
    }
}

/// Every statement of these lines reads as far as it can.
#[test]
fn a_text_of_the_greatest_size_is_read_in_one_pass() {
    for line in ["a=1\n", "a=\"\n", "(", "$(", "a=(\n", "<<a ", "if\n", "\\\n", "a=$(`\"", "((\n"] {
        let text = format!("ul_if=wan\n{}", line.repeat((1 << 20) / line.len()));
        assert_eq!(targets::autorate(text.as_bytes()).map(|of| of.mapped), Some(1), "{line:?}");
    }
}

/// `cargo test -p sounding-shape --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    for &(name, text, _) in SEEDS {
        std::fs::write(corpus().join(name), text).unwrap();
    }
}
