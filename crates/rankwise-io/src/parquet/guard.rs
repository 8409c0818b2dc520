//! Turns panics of the decoder into errors.
//!
//! The `parquet` crate checks most of a file, but some violated assumptions (such as a dictionary that must come before
//! its pages) make it panic, and files are not trusted. After a panic, the decoder is not used again.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::{ParquetError, Result};

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a decoder whose panics become errors. A panic hook should then print nothing.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// Runs a part of the decoder. It must not use other threads.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    IS_DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(ParquetError::General(text.unwrap_or("the decoder gave up").into()))
    })
}
