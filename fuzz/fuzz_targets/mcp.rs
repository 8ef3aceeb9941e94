//! The fuzzer's way to [`stan_fuzz::mcp`], and without the fuzzer a program that replays files.

#![cfg_attr(fuzzing, no_main)]

stan_fuzz::program!(stan_fuzz::mcp::law);
