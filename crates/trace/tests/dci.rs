//! Control messages of sniffers: the formats, real files, and files that are none.

mod dci_targets;

use std::io::Read;
use std::time::Duration;

use dci_targets::FORMATS;
use proptest::collection::vec;
use proptest::prelude::*;
use sounding_testdata::shared;
use sounding_trace::dci::{
    BadLine, Block, Counts, Dci, Direction, Format, Heard, LiveReader, Moment, Problem, Reader,
};

prop_compose! {
    fn block()(mcs in 0u8..32, rv in 0u8..4, ndi: bool, bits in 16u32..400_000) -> Block {
        Block { mcs, rv: Some(rv), ndi: Some(ndi), bits }
    }
}

prop_compose! {
    fn message()(
        micros in 0u64..1 << 50, cell in 0u8..4, frame in 0u16..1024, slot in 0u8..10,
        rnti in 1u16..65_523, down: bool, prb in 1u16..=100, cell_prb in 1u16..=100,
        blocks in vec(block(), 1..=2), harq in 0u8..8,
    ) -> Dci {
        let mut blocks = blocks.into_iter();
        Dci {
            moment: Moment { time: Duration::from_micros(micros), cell, frame, slot },
            rnti,
            direction: if down { Direction::Downlink } else { Direction::Uplink },
            prb,
            cell_prb: Some(cell_prb),
            blocks: [blocks.next(), blocks.next().filter(|_| down)],
            harq: Some(harq),
        }
    }
}

/// What a format keeps of a message.
fn kept(format: Format, mut dci: Dci) -> Dci {
    match format {
        Format::DciLog(Direction::Downlink) => {}
        Format::DciLog(Direction::Uplink) => {
            dci.harq = None;
            dci.blocks = dci.blocks.map(|block| block.map(|block| Block { ndi: None, ..block }));
        }
        Format::Falcon => {
            let mcs = dci.blocks[0].map_or(0, |block| block.mcs);
            let keep = |block: Block| Block { mcs, rv: None, ..block };
            dci.blocks = dci.blocks.map(|block| block.map(keep));
            dci.cell_prb = None;
        }
        Format::NrScope => dci.cell_prb = None,
    }
    dci
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_far_as_the_format_goes(messages in vec(message(), 0..20)) {
        for format in FORMATS {
            let of = |dci: &&Dci| match format {
                Format::DciLog(direction) => dci.direction == direction,
                Format::Falcon => true,
                Format::NrScope => dci.blocks[1].is_none(),
            };
            let mut text = String::from(format.header());
            text.push('\n');
            for dci in &messages {
                prop_assert_eq!(format.write(&Heard::Dci(*dci), &mut text), of(&dci));
            }
            let cell = 2;
            let wanted: Vec<_> = messages
                .iter()
                .filter(of)
                .map(|dci| {
                    let mut dci = kept(format, *dci);
                    if format != Format::NrScope {
                        dci.moment.cell = cell;
                    }
                    Ok(Heard::Dci(dci))
                })
                .collect();
            let read: Vec<_> = Reader::new(format, cell, text.as_bytes()).collect();
            prop_assert_eq!(read, wanted);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(format in 0u8..4, mut file in vec(any::<u8>(), 0..400)) {
        file.insert(0, format);
        dci_targets::dci(&file);
    }
}

#[test]
fn a_subframe_without_messages_is_silence() {
    let line = b"1946\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1795206426731255\t0\t0\t\n";
    let format = Format::DciLog(Direction::Downlink);
    let mut reader = Reader::new(format, 0, line);
    let Some(Ok(Heard::Nothing(moment))) = reader.next() else { panic!("silence") };
    assert_eq!((moment.frame, moment.slot), (194, 6));
    assert_eq!(moment.time, Duration::from_micros(1_795_206_426_731_255));
    assert_eq!(reader.counts(), Counts { silent: 1, ..Counts::default() });
    let mut text = String::new();
    assert!(format.write(&Heard::Nothing(moment), &mut text));
    assert_eq!(text.as_bytes(), line);
}

#[test]
fn a_bad_line_says_where_and_what_and_costs_only_itself() {
    let file = b"5\t70\t25\t3\t0\t0\t56\t0\t0\t0\t0\t9\n\
        5\t70\t25\t3\t0\t7\t56\t0\t0\t0\t0\t9\n\
        5\t70\t25\n\
        \xFF\xFE\n\
        6\t70\t25\t3\t0\t4\t56\t0\t0\t0\t0\t9\t\r\n\
        5\t70\t25\t3\t0\t0\t56\t0\t0\t0\t0\t9\t1\t0";
    let mut reader = Reader::new(Format::DciLog(Direction::Uplink), 0, file);
    let lines: Vec<_> = reader.by_ref().collect();
    let wrong: Vec<String> =
        lines.iter().filter_map(|line| Some(line.as_ref().err()?.to_string())).collect();
    let columns = |found| {
        format!("{found} columns, 12 needed; is it another format, or the other direction's file?")
    };
    assert_eq!(
        wrong,
        [
            "line 2: rv1 is \"7\", which is no number from 0 to 4".to_owned(),
            format!("line 3: {}", columns(3)),
            "line 4: no text; is the file compressed?".to_owned(),
            format!("line 6: {}", columns(14)),
        ]
    );
    assert_eq!(reader.counts(), Counts { messages: 2, silent: 0, bad: 4 });
}

#[test]
fn lines_without_a_header_or_without_an_end_are_refused_once() {
    let file = "timestamp,slot_index\n1.5,3\n".repeat(100);
    let lines: Vec<_> = Reader::new(Format::NrScope, 0, file.as_bytes()).collect();
    let problem = Problem::Header { column: "system_frame_index" };
    assert_eq!(lines, [Err(BadLine { line: 1, problem })]);
    let endless = vec![b'1'; 1 << 20];
    let lines: Vec<_> = Reader::new(Format::Falcon, 0, &endless).collect();
    assert_eq!(lines, [Err(BadLine { line: 1, problem: Problem::Long { len: 1 << 20 } })]);
}

#[test]
fn a_header_says_which_column_is_which() {
    let file = "carrier_index,harq_id,new_data_indicator,redundancy_version,transport_block_size,mcs_index,\
        frequency_length,dci_format,rnti,slot_index,system_frame_index,timestamp,colour\n\
        1,9,1,2,38936,19,51,1_0,17921,7,1011,1700000000.25,green\n";
    let lines: Vec<_> = Reader::new(Format::NrScope, 0, file.as_bytes()).collect();
    let time = Duration::from_millis(1_700_000_000_250);
    let wanted = Dci {
        moment: Moment { time, cell: 1, frame: 1011, slot: 7 },
        rnti: 17_921,
        direction: Direction::Downlink,
        prb: 51,
        cell_prb: None,
        blocks: [Some(Block { mcs: 19, rv: Some(2), ndi: Some(true), bits: 38_936 }), None],
        harq: Some(9),
    };
    assert_eq!(lines, [Ok(Heard::Dci(wanted))]);
    // A version for one carrier lacks its column.
    let file = file.replace("carrier_index,", "").replace("\n1,", "\n");
    for cell in [0, 2] {
        let lines: Vec<_> = Reader::new(Format::NrScope, cell, file.as_bytes()).collect();
        let wanted = Dci { moment: Moment { cell, ..wanted.moment }, ..wanted };
        assert_eq!(lines, [Ok(Heard::Dci(wanted))]);
    }
}

#[test]
fn a_log_with_a_byte_order_mark_is_read_as_one_without() {
    let dci = Dci {
        moment: Moment { time: Duration::from_secs(1), cell: 0, frame: 1, slot: 2 },
        rnti: 17_921,
        direction: Direction::Downlink,
        prb: 51,
        cell_prb: None,
        blocks: [Some(Block { mcs: 19, rv: Some(2), ndi: Some(true), bits: 38_936 }), None],
        harq: Some(9),
    };
    for format in [Format::DciLog(Direction::Downlink), Format::Falcon, Format::NrScope] {
        let mut text = format.header().to_owned();
        if !text.is_empty() {
            text.push('\n');
        }
        assert!(format.write(&Heard::Dci(dci), &mut text));
        text.push('\n');
        let plain: Vec<_> = Reader::new(format, 0, text.as_bytes()).collect();
        assert!(matches!(plain[..], [Ok(_)]), "{format}: {plain:?}");
        // Two logs in one file too.
        let marked = format!("\u{feff}{text}\u{feff}{text}");
        let twice = [&plain[..], &plain].concat();
        assert_eq!(Reader::new(format, 0, marked.as_bytes()).collect::<Vec<_>>(), twice);
        let mut reader = LiveReader::new(format, 0);
        let bytes: Vec<&[u8]> = marked.as_bytes().chunks(1).collect();
        assert_eq!(live(&mut reader, &bytes), twice, "{format}");
    }
}

/// Logs of a software base station, in NG-Scope's format.
#[test]
fn real_files_are_read_and_written_as_they_are() {
    for (folder, lines) in [("log25", [39_865, 33_214]), ("fade25", [35_583, 29_239])] {
        for (direction, name, lines) in
            [(Direction::Downlink, "dl", lines[0]), (Direction::Uplink, "ul", lines[1])]
        {
            let path = format!("srsran/{folder}/dci_raw_log_{name}.dciLog.gz");
            let Some(path) = shared(&path) else { continue };
            let file = std::fs::File::open(path).expect("it can be opened");
            let mut text = String::new();
            flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("it is text");
            let format = Format::DciLog(direction);
            let mut reader = Reader::new(format, 0, text.as_bytes());
            let mut written = String::new();
            for line in reader.by_ref() {
                assert!(format.write(&line.expect("every line is sound"), &mut written));
            }
            assert_eq!(reader.counts(), Counts { messages: lines, silent: 0, bad: 0 });
            // These have no tab at the end of a line.
            assert!(written.replace("\t\n", "\n") == text, "{folder} {name}");
        }
    }
}

/// What a live reader makes of these chunks.
fn live(reader: &mut LiveReader, chunks: &[&[u8]]) -> Vec<Result<Heard, BadLine>> {
    let mut lines = Vec::new();
    chunks.iter().for_each(|chunk| reader.handle_bytes(chunk, |line| lines.push(line)));
    lines
}

fn silence(micros: u64) -> String {
    format!("7\t0\t50\t0\t0\t0\t0\t0\t0\t0\t0\t{micros}\t0\t0\t\n")
}

#[test]
fn a_line_that_is_being_written_is_read_once_it_is_whole() {
    let mut reader = LiveReader::new(Format::DciLog(Direction::Downlink), 0);
    let line = silence(5);
    let (begin, end) = line.as_bytes().split_at(9);
    assert!(live(&mut reader, &[begin]).is_empty());
    let lines = live(&mut reader, &[end]);
    assert!(
        matches!(lines[..], [Ok(Heard::Nothing(Moment { frame: 0, slot: 7, .. }))]),
        "{lines:?}"
    );
}

#[test]
fn a_line_whose_beginning_was_not_seen_is_skipped_and_one_without_end_is_not_kept() {
    let mut reader = LiveReader::new(Format::DciLog(Direction::Downlink), 0);
    reader.handle_gap();
    let text = format!("\t50\t0\n{}", silence(6));
    assert_eq!(live(&mut reader, &[text.as_bytes()]).len(), 1);
    let endless = [b'1'; 1000];
    let lines = live(&mut reader, &[&endless[..]; 50]);
    assert!(matches!(lines[..], [Err(BadLine { problem: Problem::Long { .. }, .. })]), "{lines:?}");
    let text = format!("\n{}", silence(7));
    assert!(matches!(live(&mut reader, &[text.as_bytes()])[..], [Ok(_)]));
    assert_eq!(reader.counts(), Counts { messages: 0, silent: 2, bad: 1 });
}

#[test]
fn a_log_that_begins_anew_has_its_own_header() {
    let mut reader = LiveReader::new(Format::NrScope, 0);
    let header = format!("{}\n", Format::NrScope.header());
    let lines = live(&mut reader, &[b"1,2,3\n", header.as_bytes(), b"1,2,3\n"]);
    let problems: Vec<_> = lines.into_iter().map(|line| line.expect_err("bad").line).collect();
    assert_eq!(problems, [1, 3]);
    assert!(live(&mut reader, &[header.as_bytes(), b"half a li"]).is_empty());
    reader.handle_restart();
    assert!(live(&mut reader, &[header.as_bytes()]).is_empty());
}
