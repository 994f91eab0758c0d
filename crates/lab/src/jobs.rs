//! The same work on many things, on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// What `work` makes of each item, in the order of the items, which are begun in that order on `jobs` threads. `told` hears
/// of each that is done, from this thread. The first that fails ends all: what is under way is waited for.
pub(crate) fn each<T: Sync, R: Send, E: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
    mut told: impl FnMut(&T, &R),
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    // Nobody listens any more once something failed.
                    if send.send((at, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (at, result) in receive {
            let result = result?;
            told(&items[at], &result);
            results[at] = Some(result);
        }
        Ok(())
    })?;
    Ok(results.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn results_are_in_the_order_of_the_items_whoever_is_done_first() {
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
    fn nothing_to_do_is_done() {
        let nothing: [u8; 0] = [];
        assert_eq!(each(&nothing, 2, |_| Ok::<u8, Infallible>(1), |_, _| ()), Ok(Vec::new()));
    }
}
