//! The command line as its users meet it: every test runs the real binary in a folder of its own.
// Datasets of a few lines, written out by `format!` as they are read.
#![allow(clippy::format_collect)]

mod advice;
mod arguments;
mod auto;
mod bad_input;
mod blend;
mod book;
mod cache;
mod checkpoints;
mod compare;
mod configuration;
mod convert_model;
mod cv;
mod demo;
mod eval;
mod exact_values;
mod f64_training;
mod flags;
mod followed_advice;
mod history;
mod input;
mod inspect;
mod json_contract;
mod linear;
mod model_files;
mod nothing_learnt;
mod objectives;
mod one_answer;
mod other_programs;
mod outputs;
mod pairs;
mod parts;
mod predict;
mod runs;
mod sandbox;
mod shell;
mod start;
mod streams;
mod synth;
mod tables;
mod trace;
mod train;
mod traps;
mod tune;
mod warnings;
