//! Tests of the public interface: reading, writing, messages.

mod atomic;
mod broken;
mod convert;
mod f64_features;
mod parts;
mod real_data;
mod round_trip;
mod scores;
mod side_files;
mod tables;
mod trec;
