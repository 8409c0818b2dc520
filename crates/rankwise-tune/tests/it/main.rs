//! Integration tests.

mod auto;
