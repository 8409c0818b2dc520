//! The command line as its users meet it: every test runs the real binary in a folder of its own.

mod arguments;
mod configuration;
mod demo;
mod eval;
mod flags;
mod input;
mod inspect;
mod model_files;
mod one_answer;
mod outputs;
mod predict;
mod sandbox;
mod streams;
mod synth;
mod train;
