//! What garbage collection stands on: the files that versions name, and word to the others that a gc is at work.

pub mod data;
mod holder;
pub mod notice;
