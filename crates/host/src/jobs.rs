//! The same work on many items, on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Reports from the work while it runs.
pub enum Told<'a, T, P, R> {
    /// A job's report.
    Said(P),
    /// An item and its result.
    Done(&'a T, &'a R),
}

/// The context of a job.
pub struct Job<'a, P, R, E> {
    /// Number of its thread, from 0.
    pub worker: usize,
    stop: &'a AtomicBool,
    failed: &'a AtomicBool,
    send: &'a mpsc::Sender<Message<P, R, E>>,
}

enum Message<P, R, E> {
    Said(P),
    Done(usize, Result<Option<R>, E>),
}

impl<P, R, E> Job<'_, P, R, E> {
    /// Whether the result is not needed any more, because all was stopped or another job has
    /// failed.
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    /// Reports to the caller that waits for the work.
    pub fn say(&self, what: P) {
        // The receiver is dropped only when all jobs end.
        let _ = self.send.send(Message::Said(what));
    }
}

/// Runs `work` on each item on `jobs` threads and returns the results in item order; items are
/// begun in that order. `told` is called on this thread. After the first failure, or when `stop`
/// rises, no more items are begun, and running ones are waited for; they may stop without a result.
/// A failure has the index of its item.
///
/// Where this user may start no more threads, fewer do the work, and at last this one does.
///
/// # Errors
///
/// The first failure of `work`, with the index of its item.
pub fn until<T: Sync, P: Send, R: Send, E: Send>(
    items: &[T],
    jobs: usize,
    stop: &AtomicBool,
    work: impl Fn(&T, &Job<'_, P, R, E>) -> Result<Option<R>, E> + Sync,
    mut told: impl FnMut(Told<'_, T, P, R>),
) -> Result<Vec<Option<R>>, (usize, E)> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let mut failure = None;
    thread::scope(|scope| {
        for worker in 0..jobs.clamp(1, items.len().max(1)) {
            let (next, failed, work) = (&next, &failed, &work);
            let serve = move |send: &mpsc::Sender<_>| {
                let job = Job { worker, stop, failed, send };
                while !job.is_over() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item, &job);
                    let is_failure = result.is_err();
                    let _ = send.send(Message::Done(at, result));
                    // Only now: the cause has to be reported before items that gave up because of
                    // it.
                    if is_failure {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            };
            let own = send.clone();
            if thread::Builder::new().spawn_scoped(scope, move || serve(&own)).is_err() {
                if worker == 0 {
                    serve(&send);
                }
                break;
            }
        }
        drop(send);
        for message in receive {
            match message {
                Message::Said(what) => told(Told::Said(what)),
                Message::Done(at, Ok(result)) => {
                    if let Some(result) = &result {
                        told(Told::Done(&items[at], result));
                    }
                    results[at] = result;
                }
                Message::Done(at, Err(error)) => {
                    failure.get_or_insert((at, error));
                }
            }
        }
    });
    failure.map_or(Ok(results), Err)
}

/// The same for work without reports that is not stopped.
///
/// # Errors
///
/// The first failure of `work`.
pub fn each<T: Sync, R: Send, E: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
    mut told: impl FnMut(&T, &R),
) -> Result<Vec<R>, E> {
    let never = AtomicBool::new(false);
    let heard = |message: Told<'_, T, (), R>| {
        if let Told::Done(item, result) = message {
            told(item, result);
        }
    };
    let all = until(items, jobs, &never, |item, _| work(item).map(Some), heard);
    all.map(|all| all.into_iter().flatten().collect()).map_err(|(_, error)| error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn results_are_in_the_order_of_the_items_in_any_order_of_completion() {
        let items: Vec<u64> = (0..100).collect();
        let mut heard = 0;
        let squares = each(&items, 4, |&item| Ok::<_, Infallible>(item * item), |_, _| heard += 1);
        assert_eq!(squares.unwrap(), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert_eq!(heard, 100);
    }

    #[test]
    fn the_first_that_fails_ends_all() {
        let begun = AtomicUsize::new(0);
        let work = |&item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if item == 3 { Err(item) } else { Ok(item) }
        };
        let items: Vec<usize> = (0..100_000).collect();
        assert_eq!(each(&items, 1, work, |_, _| ()), Err(3));
        assert!(begun.load(Ordering::Relaxed) < items.len());
    }

    #[test]
    fn what_was_done_before_a_stop_is_kept() {
        let stop = AtomicBool::new(false);
        let items: Vec<usize> = (0..100).collect();
        let work = |&item: &usize, job: &Job<'_, usize, usize, Infallible>| {
            job.say(item);
            if item == 3 {
                stop.store(true, Ordering::Relaxed);
            }
            Ok((!job.is_over()).then_some(item))
        };
        let mut said = Vec::new();
        let heard = |message: Told<'_, usize, usize, usize>| {
            if let Told::Said(item) = message {
                said.push(item);
            }
        };
        let results = until(&items, 1, &stop, work, heard).unwrap();
        assert_eq!(said, [0, 1, 2, 3]);
        assert_eq!(results.iter().flatten().collect::<Vec<_>>(), [&0, &1, &2]);
        assert_eq!(results.len(), items.len());
    }

    #[test]
    fn nothing_to_do_is_done() {
        let nothing: [u8; 0] = [];
        assert_eq!(each(&nothing, 2, |_| Ok::<u8, Infallible>(1), |_, _| ()), Ok(Vec::new()));
    }
}
