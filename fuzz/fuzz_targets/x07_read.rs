//! The fuzzer's way to [`stan_fuzz::x07_read`], and without the fuzzer a program that replays files.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stan_fuzz::x07_read(bytes));

#[cfg(not(fuzzing))]
fn main() {
    stan_fuzz::replay(stan_fuzz::x07_read);
}
