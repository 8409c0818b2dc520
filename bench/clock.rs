//! Prints the clock rate of the machine in GHz under load: a chain of shifts and exclusive ors, each of which takes one
//! cycle and depends on the one before.

use std::hint::black_box;
use std::time::Instant;

const LINKS: u64 = 50_000_000;
const CYCLES_PER_LINK: f64 = 4.0;

fn main() {
    let mut best = 0.0f64;
    for _ in 0..5 {
        let started = Instant::now();
        let mut number = black_box(3u64);
        for _ in 0..LINKS {
            number ^= number >> 7;
            number ^= number << 9;
        }
        black_box(number);
        best = best.max(LINKS as f64 * CYCLES_PER_LINK / started.elapsed().as_secs_f64() / 1e9);
    }
    println!("{best:.3}");
}
