//! stub
#[derive(clap::Subcommand)]
pub(crate) enum Bench {
    Graph,
}
pub(crate) fn run(_root: &std::path::Path, _bench: &Bench) -> crate::Result<bool> {
    Ok(true)
}
