//! The board over plain memory: a reader gets what was posted, and memory that is not a board is
//! recognised.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use sounding_diag::layout::Item;
use sounding_kpi::board::{Board, MAX_NAME, MAX_UNIT, NotABoard, Sample, Writer, words_for};
use sounding_kpi::{Reading, registry};
use sounding_units::{HostInstant, ModemInstant};

const NAMES: [(&str, &str); 3] = [("lte.pusch.tbs", "B"), ("lte.cell.rsrp", "dBm"), ("x", "1")];

fn host(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn memory() -> Vec<AtomicU64> {
    (0..words_for(NAMES.len())).map(|_| AtomicU64::new(0)).collect()
}

fn writer(words: &[AtomicU64]) -> Writer {
    Writer::create(words, NAMES.into_iter(), 77, host(1)).expect("it fits")
}

fn reading(slot: usize, value: f64) -> Reading {
    Reading { slot, value, item: Item::default(), at: ModemInstant::from_nanos(5) }
}

#[test]
fn a_reader_finds_kpis_by_name() {
    let words = memory();
    writer(&words);
    let board = Board::open(&words).expect("it is a board");
    assert_eq!(board.slots(), 3);
    assert_eq!((board.find("lte.cell.rsrp"), board.find("lte.cell.rsrq")), (Some(1), None));
    let (mut name, mut unit) = ([0; MAX_NAME], [0; MAX_UNIT]);
    assert_eq!((board.name(0, &mut name), board.unit(0, &mut unit)), NAMES[0]);
    assert_eq!(board.name(3, &mut name), "");
}

#[test]
fn every_kpi_has_room_for_its_name_and_unit() {
    for kpi in registry::all() {
        assert!(kpi.name.len() <= MAX_NAME, "{}", kpi.name);
        assert!(kpi.unit.to_string().len() <= MAX_UNIT, "{}", kpi.unit);
    }
}

#[test]
fn nothing_is_there_before_the_first_post() {
    let words = memory();
    let mut writer = writer(&words);
    let board = Board::open(&words).expect("it is a board");
    assert_eq!(board.read(0), Ok(None));
    writer.handle(&reading(0, 7.0), host(2));
    assert_eq!(board.read(0), Ok(None), "it is not posted yet");
    assert!(writer.post(board));
    assert!(board.read(0).expect("no write is under way").is_some());
    assert_eq!((board.read(1), board.read(99)), (Ok(None), Ok(None)));
}

#[test]
fn one_post_of_many_values_is_the_last_and_the_sum_of_all() {
    let words = memory();
    let mut writer = writer(&words);
    let board = Board::open(&words).expect("it is a board");
    for value in [100.0, 20.0, 3.0] {
        writer.handle(&reading(0, value), host(9));
    }
    assert!(writer.post(board));
    assert!(!writer.post(board), "nothing has come since");
    let expected = Sample {
        modem_at: ModemInstant::from_nanos(5),
        received_at: host(9),
        sequence: 3,
        value: 3.0,
        total: 123.0,
        item: 0,
    };
    assert_eq!(board.read(0), Ok(Some(expected)));
    assert_eq!(board.life().posts, 1);
}

#[test]
fn a_reader_sees_whether_the_writer_lives() {
    let words = memory();
    let writer = writer(&words);
    let board = Board::open(&words).expect("it is a board");
    let patience = Duration::from_millis(100);
    assert!(!board.life().is_over(host(50), patience));
    assert!(board.life().is_over(host(200), patience), "it is silent since 1 ms");
    writer.heartbeat(board, host(150));
    assert!(!board.life().is_over(host(200), patience));
    writer.close(board);
    assert!(board.life().is_over(host(200), patience));
    assert_eq!(board.life().pid, 77);
}

#[test]
fn a_writer_that_stops_anywhere_in_a_post_leaves_the_one_before() {
    let words = memory();
    let mut writer = writer(&words);
    let board = Board::open(&words).expect("it is a board");
    for value in [1.0, 2.0, 3.0, 4.0] {
        writer.handle(&reading(0, value), host(1));
        writer.post(board);
    }
    let before = board.read(0);
    // Slot 0 begins after the header and the names; the fifth post goes to its third buffer.
    let buffer = 8 + NAMES.len() * 8 + 1 + 2 * 7;
    for (at, word) in words[buffer..buffer + 7].iter().enumerate() {
        word.store(0xDEAD, Relaxed);
        assert_eq!(board.read(0), before, "stopped after word {at}");
    }
}

#[test]
fn memory_that_is_no_board_is_an_error() {
    assert_eq!(Board::<AtomicU64>::open(&[]).map(|_| ()), Err(NotABoard::Magic));
    let words = memory();
    assert_eq!(Board::open(&words).map(|_| ()), Err(NotABoard::Magic));
    writer(&words);
    let short = NotABoard::Short { slots: 3, need: words_for(3), have: words_for(3) - 1 };
    assert_eq!(Board::open(&words[..words.len() - 1]).map(|_| ()), Err(short));
    words[1].store(9 << 32 | 3, Relaxed);
    assert_eq!(Board::open(&words).map(|_| ()), Err(NotABoard::Version { found: 9 }));
    words[1].store(1 << 32 | u64::from(u32::MAX), Relaxed);
    assert!(matches!(Board::open(&words), Err(NotABoard::Short { .. })));
}

#[test]
fn any_words_are_a_board_that_can_be_read_or_none() {
    let words = memory();
    writer(&words);
    for seed in 0..2_000u64 {
        for (at, word) in words.iter().enumerate().skip(2) {
            let mixed = (seed << 32 | at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            word.store(if mixed >> 62 == 0 { mixed % 4 } else { mixed }, Relaxed);
        }
        let board = Board::open(&words).expect("its first words are sound");
        let (mut name, mut unit) = ([0; MAX_NAME], [0; MAX_UNIT]);
        for slot in 0..4 {
            let _ = (board.read(slot), board.name(slot, &mut name), board.unit(slot, &mut unit));
        }
    }
}

#[test]
fn no_reader_sees_a_torn_value() {
    let words = memory();
    let mut writer = writer(&words);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let posts = scope.spawn(|| {
            let board = Board::open(&words).expect("it is a board");
            let mut number = 0;
            while !stop.load(Relaxed) {
                number += 1;
                let at = ModemInstant::from_nanos(number);
                let reading = Reading { at, ..reading(0, number as f64) };
                writer.handle(&reading, HostInstant::from_nanos(number));
                writer.post(board);
            }
            number
        });
        let board = Board::open(&words).expect("it is a board");
        let (mut last, mut changes) = (0, 0);
        // Until enough was seen to change under way, however the two threads are scheduled.
        while changes < 10_000 {
            let Ok(Some(sample)) = board.read(0) else { continue };
            assert_eq!(sample.modem_at.as_nanos(), sample.sequence);
            assert_eq!(sample.received_at.as_nanos(), sample.sequence);
            assert_eq!(sample.value, sample.sequence as f64);
            assert!(sample.sequence >= last);
            changes += u32::from(sample.sequence != last);
            last = sample.sequence;
        }
        stop.store(true, Relaxed);
        assert!(posts.join().expect("the writer ends") >= 10_000);
    });
}
