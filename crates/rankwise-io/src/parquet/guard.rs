//! Panics of the decoder are damaged input.
//!
//! The `parquet` crate checks most of what a file says, but some of its expectations (a dictionary before the pages that
//! use it, for one) end in a panic, and files are never trusted. Nothing of a decoder that panicked is used again.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::{ParquetError, Result};

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside of a decoder whose panics are turned into errors. A panic hook does well to keep silent
/// then.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// Runs a part of the decoder. It must not hand work to other threads.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    IS_DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(ParquetError::General(text.unwrap_or("the decoder gave up").into()))
    })
}
