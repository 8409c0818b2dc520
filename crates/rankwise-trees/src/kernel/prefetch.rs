//! Asking for memory before it is needed.

/// Starts to fetch the cache line that holds the first byte of `value` into the second-level cache. Changes nothing but
/// the time it takes to read it later.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, and every x86-64 machine has it.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
