//! Packages of the repository.
use stan_repo::Files;
use stan_model::Problem;
#[derive(Clone)]
pub struct Workspaces;
impl Workspaces {
    pub fn read(_: &dyn Files, _: &str, _: &[Box<str>], _: &mut Vec<Problem>) -> Self { Self }
    pub fn directory(&self, _: &str) -> Option<&str> { None }
}
