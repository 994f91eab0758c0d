//! A number that others read has a unit: in its type, its name or its documentation.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

/// Headers that other programs include, stubs of Python, and code. Public fields and constants are
/// a crate's interface, fields of what `serde` writes are the JSON of the program.
const PLACES: &[&str] = &[
    "crates/libod/include/sounding/od.h",
    "crates/bpf/src/bpf/common/intf.h",
    "python/sounding/*.pyi",
    "crates/*/src/*.rs",
    // Only this project's own commands and tests use these.
    ":!crates/lab",
    ":!crates/testbed",
];

const UNITS: &str = "ns us ms s sec nanosecond microsecond millisecond second minute hour byte kb \
    bit bps mbit mhz khz hz ghz db dbm dbi m metre mps degree deg ppm millionth permille thousandth \
    percent % segment mss packet frame slot subframe symbol prb block cce word tick row line column \
    round rtt cpu core processor share part fraction ratio probability factor gain unit";
// Kinds of numbers have none.
const KINDS: &str = "count number many sequence seq index id identity place enum code command version \
    cookie port family pid user group seed magic flag epoch digest mark bound item offset numerology \
    carrier cell channel bearer radio layer antenna table configuration cqi mcs rank band arfcn earfcn \
    uarfcn pci rnti sfn harq ndi rv mcc mnc k0 k1 k2 bitmap mask reserved exponent priority";

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").arg("ls-files").args(PLACES).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let bare = numbers(path, &text).into_iter().filter(|number| !number.has_unit());
        let told =
            |of: Number<'_>| format!("{path}:{}: {} has no unit in name or text", of.line, of.name);
        found.extend(bare.map(told));
    }
    found
}

struct Number<'a> {
    line: usize,
    name: &'a str,
    about: String,
}

impl Number<'_> {
    fn has_unit(&self) -> bool {
        let known = |word: &str| {
            let one = word.strip_suffix('s').filter(|one| !one.is_empty()).unwrap_or(word);
            let mut words = UNITS.split_whitespace().chain(KINDS.split_whitespace());
            words.any(|known| known == one || known == word)
        };
        // A plural at an end of a name, or at the beginning of a text, is a count of what it names.
        let plural = |word: &str| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        let name = self.name.to_lowercase();
        let (first, last) = (name.split('_').next(), name.rsplit('_').next());
        let of_name = last.into_iter().chain(first).any(|word| known(word) || plural(word));
        let about = self.about.to_lowercase();
        let inside = |c: char| c.is_alphanumeric() || "%'".contains(c);
        let mut words = about.split(|c| !inside(c)).filter(|word| !word.is_empty());
        let counts = words.clone().next().is_some_and(|word| plural(word) && word != "this");
        of_name || counts || words.any(known)
    }
}

/// The numbers of a file with what is said about them.
fn numbers<'a>(path: &str, text: &'a str) -> Vec<Number<'a>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let (mut above, mut written) = (String::new(), false);
    for (at, raw) in lines.iter().enumerate() {
        let line = raw.trim();
        let comment = ["///", "/*", "*", "#["].iter().any(|mark| line.starts_with(mark));
        let begins = line.starts_with("#[") && line.contains("Serialize");
        written = begins || written && *raw != "}";
        if comment {
            above = above + " " + line.trim_start_matches(['/', '*', ' ']);
            continue;
        }
        let about = match path.ends_with(".pyi") {
            true => lines.get(at + 1).map(|next| next.replace('"', "")).unwrap_or_default(),
            false => format!("{above} {}", line.split_once("/*").unwrap_or_default().1),
        };
        let name = match path.rsplit('.').next() {
            Some("rs") => rust(line, written),
            Some("h") => c(line),
            _ => python(raw),
        };
        found.extend(name.map(|name| Number { line: at + 1, name, about }));
        above.clear();
    }
    found
}

fn rust(line: &str, written: bool) -> Option<&str> {
    let public = line.strip_prefix("pub ");
    let field = public.or(Some(line).filter(|_| written))?;
    let (name, kind) = field.strip_prefix("const ").unwrap_or(field).split_once(": ")?;
    let ends = line.ends_with(',') || field.starts_with("const ");
    let kind = kind.split(" =").next()?.trim_start_matches("Option<").trim_end_matches([',', '>']);
    let bits = kind.strip_prefix(['u', 'i', 'f'])?;
    let is_number = ["8", "16", "32", "64", "128", "size"].contains(&bits);
    (ends && is_number && !name.contains(['(', ' '])).then_some(name)
}

fn c(line: &str) -> Option<&str> {
    let (kind, name) = line.split_once(';')?.0.split_once(char::is_whitespace)?;
    let is_number = ["__u", "__s", "__be", "uint", "int", "double", "float", "size_t"];
    let name = name.trim().split('[').next()?;
    (is_number.iter().any(|begin| kind.starts_with(begin)) && !name.contains(['(', ' ']))
        .then_some(name)
}

fn python(line: &str) -> Option<&str> {
    let of_class = line.strip_prefix("    ")?;
    let attribute = of_class.split_once(": ").filter(|(name, _)| !name.contains(['(', ' ']));
    let property = of_class.strip_prefix("def ").and_then(|def| def.split_once("(self) -> "));
    let (name, kind) = attribute.or(property)?;
    let kind = kind.trim_end_matches(':');
    ["int", "float", "int | None", "float | None"].contains(&kind).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(path: &str, text: &str) -> Vec<String> {
        let numbers = numbers(path, text).into_iter().filter(|number| !number.has_unit());
        numbers.map(|number| number.name.into()).collect()
    }

    #[test]
    fn a_number_without_a_unit_is_found_in_every_language() {
        let rust = "/// How far.\npub reach: u64,\n/// How far, in metres.\npub far: f64,\npub age_ns: u64,\n";
        assert_eq!(bare("a.rs", rust), ["reach"]);
        let json = "#[derive(Serialize)]\nstruct A {\n    /// It.\n    pace: Option<f64>,\n}\nlet pace: u64,";
        assert_eq!(bare("a.rs", json), ["pace"]);
        let c = "\t__u64 pace;\t/* of payload */\n\t__u64 rate;\t/* bytes/s */\n\t__u32 users;\n";
        assert_eq!(bare("a.h", c), ["pace"]);
        let python = "    wait: int\n    \"\"\"How long.\"\"\"\n    wait_ns: int\n    \"\"\"How long.\"\"\"\n";
        assert_eq!(bare("a.pyi", python), ["wait"]);
    }
}
