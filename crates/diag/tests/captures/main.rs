//! Real captures, read beside an independent reader: every frame, and every field of every record described here.

mod agree;
mod alone;
mod combos;
mod evidence;
mod expected;
mod rules;
#[path = "../tree/mod.rs"]
mod tree;
mod vectors;

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use sounding_diag::capture::{Capture, Damage};
use sounding_diag::command::Answer;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Record, RecordError};
use sounding_diag::{LogCode, LogRecord};
use sounding_testdata::shared;

use agree::Fields;

/// What a capture must hold for its test to mean something.
#[derive(Default)]
struct Seen {
    frames: usize,
    logs: usize,
    compared: BTreeMap<LogCode, usize>,
    fields: BTreeMap<LogCode, Fields>,
    /// Records that differ in a way that nothing explains.
    unexplained: BTreeMap<LogCode, Vec<String>>,
}

/// As [`compared`], where every difference has to have its explanation.
fn agrees(folder: &str, file: &str) -> Option<Seen> {
    let seen = compared(folder, file)?;
    let first = seen.unexplained.values().flatten().next();
    assert_eq!(first, None, "and {:?} in all", seen.unexplained.values().map(Vec::len));
    Some(seen)
}

/// Reads `captures/{folder}/{file}` beside `expected/{folder}_{file}.jsonl.zst`.
fn compared(folder: &str, file: &str) -> Option<Seen> {
    let bytes = std::fs::read(shared(&format!("captures/{folder}/{file}"))?)
        .expect("the capture can be read");
    let expected = shared(&format!("expected/{folder}_{file}.jsonl.zst"))?;
    let mut capture = Capture::new(&bytes).expect("it is a capture");
    let mut seen = Seen::default();
    let lines = expected::for_each_line(&expected, |line| {
        let at = format!("{file}: frame {} at {}", seen.frames, line.off);
        let found = capture.poll_packet().unwrap_or_else(|| panic!("{at}: we have no such frame"));
        check_frame(&at, found, &line, &mut seen);
        seen.frames += 1;
    });
    assert!(capture.poll_packet().is_none(), "{file}: we have more than {lines} frames");
    assert_eq!(capture.counts().frames.bytes, bytes.len() as u64, "{file}");
    Some(seen)
}

fn check_frame(
    at: &str,
    found: Result<sounding_diag::capture::Located<'_>, Damage>,
    line: &expected::Line<'_>,
    seen: &mut Seen,
) {
    let located = match (found, line.err) {
        (Err(Damage::Frame(bad)), Some(_)) => {
            assert_eq!(bad.offset, line.off, "{at}");
            return;
        }
        (Ok(located), None) => located,
        (found, err) => panic!("{at}: we found {found:?}, they {err:?}"),
    };
    assert_eq!(located.offset, line.off, "{at}");
    let log = match located.packet {
        Packet::Other { command, body, .. } => {
            assert_eq!(Some(command), line.cmd, "{at}");
            if [0x00, 0x73, 0x7C].contains(&command) {
                assert!(Answer::parse(command, body).is_some(), "{at}: {body:02x?}");
            }
            return;
        }
        Packet::Log(log) => log,
    };
    assert_eq!(line.code, Some(log.code.to_string()).as_deref(), "{at}");
    assert_eq!(line.wrap.map(|[.., radio]| radio), log.radio, "{at}");
    assert_eq!(line.ver, log.body.first().copied(), "{at}");
    assert_eq!(line.ts, Some(log.stamp), "{at}");
    assert_eq!(line.body, Some(log.body.len()), "{at}");
    assert_eq!(line.len, Some(log.body.len() as u64 + 12), "{at}");
    seen.logs += 1;
    check_record(at, &log, line, seen);
}

fn check_record(at: &str, log: &LogRecord<'_>, line: &expected::Line<'_>, seen: &mut Seen) {
    let mut tree = tree::Builder::new();
    let at = format!("{at}, log {} v{:?}", log.code, log.body.first());
    match record::decode(log, &mut tree) {
        Ok(()) => {}
        Err(RecordError::Undescribed { .. }) => return,
        // The reference has no more than the header of these either.
        Err(RecordError::Unsupported { .. }) => return,
        Err(error) => panic!("{at}: {error}"),
    }
    walk_typed(&at, log);
    let Some(theirs) = line.mi else { return };
    let theirs: Map<String, Json> =
        serde_json::from_str(theirs.get()).expect("their fields are an object");
    match rules::check(log, tree.finish(), theirs) {
        Ok(Some(fields)) => {
            *seen.compared.entry(log.code).or_default() += 1;
            *seen.fields.entry(log.code).or_default() += fields;
        }
        Ok(None) => assert!(unread(log) < 4, "{at}: {} bytes are left", unread(log)),
        Err(error) => {
            seen.unexplained.entry(log.code).or_default().push(format!("{at}: {error}"));
        }
    }
}

/// Bytes of a record that its layout says nothing about. Where the reference knows no more than the header, that the
/// layout ends where the record does, but for padding to a whole word, is what speaks for it.
fn unread(log: &LogRecord<'_>) -> usize {
    let layouts = record::layouts(log.code).expect("it is described");
    let version = log.code.version_of(log.body).expect("it has a version");
    let layout = layouts.iter().find(|layout| layout.describes(version));
    let node = layout.expect("it is described").node(log.body).expect("it decodes");
    let packets = node.sub_packets().filter_map(|sub| Some(sub.len - 4 - sub.node?.extent()));
    log.body.len() - node.extent() + packets.sum::<usize>()
}

/// The typed view of a record that decodes must be there too.
fn walk_typed(at: &str, log: &LogRecord<'_>) {
    if let Err(error) = Record::parse(log) {
        assert!(matches!(error, RecordError::Unsupported { .. }), "{at}: {error}");
    }
}

/// One test for each capture: its folder, its file, its frames, and how many records were compared field by field.
macro_rules! captures {
    ($($test:ident: $folder:literal, $file:literal, $frames:literal, $compared:literal;)*) => {
        $(
            #[test]
            fn $test() {
                let Some(seen) = agrees($folder, $file) else { return };
                let compared = seen.compared.values().sum::<usize>();
                assert_eq!((seen.frames, compared), ($frames, $compared), "{:?}", seen.compared);
            }
        )*

        /// The captures with a test of their own.
        const NAMED: &[(&str, &str)] = &[$(($folder, $file)),*];
    };
}

captures! {
    rayhunter_manila: "DrexxLaggui__sample-QMDL-in-PH-Makati-city", "1761147671_DLaggui_MNL-20251022-2341-GMT8.qmdl", 218, 218;
    exilarch_attach_fr_sample: "Exilarch__mobileinsight-core", "attach_fr_sample.mi2log", 9926, 9926;
    exilarch_auth_fr_sample: "Exilarch__mobileinsight-core", "auth_fr_sample.mi2log", 11751, 11718;
    rayhunter_1741896393_deadsim: "ZeroChaos-__rayhunter-traces", "1741896393-deadsim.qmdl", 99, 99;
    rayhunter_1749222138_goodsim: "ZeroChaos-__rayhunter-traces", "1749222138-goodsim.qmdl", 1891, 1891;
    kaiyuhou_5535d7_monitor_example: "kaiyuhou__mobileinsight-core", "5535d7_monitor-example.mi2log", 12, 12;
    kaiyuhou_filtered_log: "kaiyuhou__mobileinsight-core", "filtered_log.mi2log", 11, 11;
    kaiyuhou_mi2_0521_192011_verizon_redmi_note4x: "kaiyuhou__mobileinsight-core", "mi2_0521_192011_Verizon_RedMi-Note4X.mi2log", 18, 18;
    kaiyuhou_monitor_example: "kaiyuhou__mobileinsight-core", "monitor-example.mi2log", 80, 80;
    lgs96_20211220_003916: "lgs96__mobileinsight_core", "diag_log_20211220_003916.mi2log", 8018, 8018;
    lgs96_20211220_003937: "lgs96__mobileinsight_core", "diag_log_20211220_003937.mi2log", 8371, 8371;
    lgs96_20211220_003954: "lgs96__mobileinsight_core", "diag_log_20211220_003954.mi2log", 8256, 8256;
    lgs96_20211220_004448: "lgs96__mobileinsight_core", "diag_log_20211220_004448.mi2log", 8681, 8681;
    lgs96_20211220_004729: "lgs96__mobileinsight_core", "diag_log_20211220_004729.mi2log", 13137, 13137;
    lgs96_20211220_010627: "lgs96__mobileinsight_core", "diag_log_20211220_010627.mi2log", 11193, 11193;
    lgs96_20211220_080503: "lgs96__mobileinsight_core", "diag_log_20211220_080503.mi2log", 12423, 12423;
    lgs96_20211220_104041: "lgs96__mobileinsight_core", "diag_log_20211220_104041.mi2log", 2272, 2272;
    lgs96_20211220_111534: "lgs96__mobileinsight_core", "diag_log_20211220_111534.mi2log", 11867, 11867;
    lgs96_20211220_210325: "lgs96__mobileinsight_core", "diag_log_20211220_210325.mi2log", 8556, 8556;
    lgs96_20211220_211208: "lgs96__mobileinsight_core", "diag_log_20211220_211208.mi2log", 11947, 11947;
    lgs96_overlink_500kb: "lgs96__mobileinsight_core", "overlink_500KB.mi2log", 1275, 1275;
    lgs96_overlink_500kb2: "lgs96__mobileinsight_core", "overlink_500KB2.mi2log", 1216, 1216;
    log_2be442_offline_log_example: "mobile-insight__mobileinsight-core", "2be442_offline_log_example.mi2log", 13618, 281;
    att: "mobile-insight__mobileinsight-core", "att.mi2log", 1808, 1804;
    attach_sample: "mobile-insight__mobileinsight-core", "attach_sample.mi2log", 5058, 5058;
    cmcc: "mobile-insight__mobileinsight-core", "cmcc.mi2log", 5501, 5303;
    pixel5: "mobile-insight__mobileinsight-core", "diag_log_20230212_113941_694700ff5404f1b48bf9c7482896e2a4_Google-Pixel5_310410.qmdl", 631, 22;
    latency_sample: "mobile-insight__mobileinsight-core", "latency_sample.mi2log", 2630, 2630;
    mobility_sample: "mobile-insight__mobileinsight-core", "mobility_sample.mi2log", 8183, 8183;
    offline_log_example: "mobile-insight__mobileinsight-core", "offline_log_example.mi2log", 16485, 249;
    qmdl_example: "mobile-insight__mobileinsight-core", "qmdl_example.qmdl", 345, 296;
    sprint: "mobile-insight__mobileinsight-core", "sprint.mi2log", 47107, 22629;
    test_log_dl_retx: "mobile-insight__mobileinsight-core", "test_log_dl_retx.mi2log", 14404, 14404;
    twilio_nb_open_3: "mobile-insight__mobileinsight-core", "twilio_nb_open_3.mi2log", 220, 197;
    lte_rrc_state_sample: "mobile-insight__mobileinsight-mobile", "LTE_RRC_state_sample.mi2log", 144, 144;
    pixel3_20210307_012743: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012743_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 103, 103;
    pixel3_20210307_012744: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012744_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 87, 87;
    pixel3_20210307_012745: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012745_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 85, 85;
    pixel3_20210307_012746: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012746_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 90, 90;
    pixel3_20210307_012747: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012747_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 83, 83;
    pixel3_20210307_012748: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012748_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 108, 108;
    pixel3_20210307_012749: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012749_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 90, 90;
    pixel3_20210307_012750: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012750_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 109, 109;
    pixel3_20210307_012751: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012751_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 169, 169;
    pixel3_20210307_012752: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012752_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 133, 133;
    pixel3_20210307_012753: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012753_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 124, 124;
    pixel3_20210307_012754: "xietian1__mobileinsight-core-5.0-pdcp", "diag_log_20210307_012754_ff8c18fc32c6e6932dec301c698784c3_Google-Pixel3_311480.mi2log", 117, 117;
}

/// Many small captures of one phone: RRC messages of LTE and NR, among them the ones with bad checks.
#[test]
fn captures_of_a_xiaomi_mi10() {
    let files = sounding_testdata::shared_files("expected");
    let (mut frames, mut logs, mut compared) = (0, 0, 0);
    for file in files.iter().filter(|file| is_xiaomi(file)) {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap();
        let name = name.strip_prefix(XIAOMI).and_then(|name| name.strip_suffix(".jsonl.zst"));
        let seen = agrees("mobile-insight__mobileinsight-core", name.unwrap()).unwrap();
        frames += seen.frames;
        logs += seen.logs;
        compared += seen.compared.values().sum::<usize>();
    }
    if !files.is_empty() {
        assert_eq!((frames, logs, compared), (54534, 54514, 54514));
    }
}

/// Every capture that has an expected reading: its folder and its file.
fn files() -> Vec<(String, String)> {
    let own = NAMED.iter().map(|(folder, file)| ((*folder).to_owned(), (*file).to_owned()));
    let names = sounding_testdata::shared_files("expected").into_iter().filter_map(|file| {
        let name = file.file_name()?.to_str()?.strip_prefix(XIAOMI)?;
        let name = is_xiaomi(&file).then(|| name.strip_suffix(".jsonl.zst"))??;
        Some((XIAOMI.trim_end_matches('_').to_owned(), name.to_owned()))
    });
    own.chain(names).collect()
}

const XIAOMI: &str = "mobile-insight__mobileinsight-core_";

fn is_xiaomi(file: &std::path::Path) -> bool {
    file.to_string_lossy().contains("_Xiaomi-Mi10_")
}

#[test]
fn no_expected_reading_is_left_out() {
    for file in sounding_testdata::shared_files("expected").iter().filter(|file| !is_xiaomi(file)) {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap();
        let named = |&(folder, file): &(&str, &str)| name == format!("{folder}_{file}.jsonl.zst");
        assert!(NAMED.iter().any(named), "{name} has no test");
    }
}

/// `make agreement`: what is compared, code by code.
#[test]
#[ignore = "prints a table of what the other tests compare"]
fn agreement() {
    let mut rows = BTreeMap::<LogCode, (usize, Fields, usize)>::new();
    let mut frames = 0;
    for (folder, file) in files() {
        let Some(seen) = compared(&folder, &file) else { return };
        frames += seen.frames;
        for (code, count) in seen.compared {
            rows.entry(code).or_default().0 += count;
        }
        for (code, fields) in seen.fields {
            rows.entry(code).or_default().1 += fields;
        }
        for (code, errors) in seen.unexplained {
            rows.entry(code).or_default().2 += errors.len();
        }
    }
    println!("                       fields                               records");
    println!("code    records      equal  explained  ours alone  unexplained  name");
    let mut total = (0, Fields::default(), 0);
    for (code, (records, fields, unexplained)) in &rows {
        let Fields { equal, explained, ours_alone } = fields;
        let name = code.name().unwrap_or("-");
        println!(
            "{code}  {records:>7} {equal:>10} {explained:>10} {ours_alone:>11} {unexplained:>12}  {name}"
        );
        total = (total.0 + records, total.1 + *fields, total.2 + unexplained);
    }
    let (records, Fields { equal, explained, ours_alone }, unexplained) = total;
    println!("total   {records:>7} {equal:>10} {explained:>10} {ours_alone:>11} {unexplained:>12}");
    println!("{} codes, {frames} frames", rows.len());
    assert_eq!(unexplained, 0);
}
