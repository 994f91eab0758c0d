//! Runs the fuzz target for titles with its seeds, and generates the seeds.

mod targets;

use std::fs;
use std::path::PathBuf;

fn titles() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/titles"))
}

/// Seeds with names: a text for each name on a page that comes from a plan.
fn named() -> Vec<(&'static str, String)> {
    let everywhere = |word: &str| [word; 14].join("\0");
    vec![
        ("plain", everywhere("three flows that share")),
        ("places", everywhere("{{js}}{{sections}}{{title}}")),
        ("half-places", everywhere("}}{{css")),
        ("elements", everywhere("</script></style></title><script>alert(1)</script><style>")),
        ("attributes", everywhere("\" onload=\"alert(1)\" x='")),
        ("headings", everywhere("one\n# two\n## three\r# four\n|a|b|\n![x](y)")),
        ("controls", everywhere("\u{1}\u{1b}]0;x\u{7}\u{9b}1m\u{7f}\u{ffff}\u{202e}gnp.exe")),
        ("nothing", everywhere("")),
        ("references", everywhere("&lt;script&gt; &#60;b&#62; &amp;")),
        ("short", "one\0two".into()),
        ("long", everywhere(&"wide ".repeat(40))),
    ]
}

#[test]
fn text_of_a_plan_never_becomes_markup_of_its_page() {
    for (name, words) in named() {
        let seed = fs::read(titles().join(name)).expect("a seed");
        assert_eq!(seed, words.as_bytes(), "{name}");
        assert!(targets::titles(&seed).is_some(), "{name}");
    }
}

/// `cargo test -p sounding-report --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds"]
fn regenerate() {
    fs::create_dir_all(titles()).expect("a folder");
    for (name, words) in named() {
        fs::write(titles().join(name), words).expect("a seed");
    }
}
