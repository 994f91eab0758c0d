//! The board's protocol under a model checker: every order of its loads and stores that the memory
//! model allows, up to three preemptions. `scripts/loom` runs it.

#![cfg(loom)]

use std::sync::atomic::Ordering;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread;
use sounding_diag::layout::Item;
use sounding_kpi::Reading;
use sounding_kpi::board::{Board, Sample, Word, Writer, words_for};
use sounding_units::{HostInstant, ModemInstant};

struct Modelled(AtomicU64);

impl Word for Modelled {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    fn fence(order: Ordering) {
        fence(order);
    }
}

fn memory() -> Arc<Vec<Modelled>> {
    Arc::new((0..words_for(1)).map(|_| Modelled(AtomicU64::new(0))).collect())
}

/// Every word of the sample identifies it.
fn reading(number: u64) -> (Reading, HostInstant) {
    let at = ModemInstant::from_nanos(number);
    let reading = Reading { slot: 0, value: number as f64, item: Item::default(), at };
    (reading, HostInstant::from_nanos(number))
}

fn assert_whole(sample: &Sample) {
    let number = sample.sequence;
    assert!(number > 0);
    let sum = (1..=number).sum::<u64>() as f64;
    let torn = format!("{sample:?}");
    assert_eq!(sample.modem_at.as_nanos(), number, "{torn}");
    assert_eq!(sample.received_at.as_nanos(), number, "{torn}");
    assert_eq!((sample.value, sample.total), (number as f64, sum), "{torn}");
}

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

/// Posts `posts` samples, `before` of them before the reader starts; the reader reads `reads`
/// times.
fn posted_while_read(before: u64, posts: u64, reads: u32) {
    model(move || {
        let words = memory();
        let mut writer = {
            let names = [("kpi", "1")].into_iter();
            Writer::create(&words, names, 1, HostInstant::from_nanos(0)).unwrap()
        };
        let mut post = {
            let words = Arc::clone(&words);
            move |number| {
                let (reading, now) = reading(number);
                writer.handle(&reading, now);
                writer.post(Board::open(&words).unwrap());
            }
        };
        (1..=before).for_each(&mut post);
        let reader = {
            let words = Arc::clone(&words);
            thread::spawn(move || {
                let board = Board::open(&words).unwrap();
                let mut last = before;
                for _ in 0..reads {
                    // Overtaken cannot be: the writer has not that many posts.
                    let Some(sample) = board.read(0).unwrap() else {
                        assert_eq!(last, 0, "a sample does not go away");
                        continue;
                    };
                    assert_whole(&sample);
                    assert!(sample.sequence >= last, "{} after {last}", sample.sequence);
                    last = sample.sequence;
                }
            })
        };
        (before + 1..=before + posts).for_each(&mut post);
        reader.join().unwrap();
        let sample = Board::open(&words).unwrap().read(0).unwrap().unwrap();
        assert_eq!(sample.sequence, before + posts);
    });
}

#[test]
fn no_reader_sees_a_torn_sample_or_an_older_one_than_before() {
    posted_while_read(1, 2, 2);
}

#[test]
fn the_first_sample_is_whole_or_not_there() {
    posted_while_read(0, 1, 2);
}

#[test]
fn a_reader_whose_buffer_is_written_again_starts_over() {
    // The fourth post takes the buffer of the first.
    posted_while_read(1, 3, 1);
}
