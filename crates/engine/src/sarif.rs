//! Findings as SARIF 2.1.0, which code hosts show beside the lines: problems of a reply, import cycles, and unresolved imports.
//! Each log contains one run of one tool; its bytes depend only on the findings.

use std::collections::BTreeMap;

use serde::Serialize;
use stan_model::NodeKind;
use stan_model::document::assistant_reports::{ReplyReport, Severity};

use crate::answers::CyclesReport;
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::GraphRequest;
use crate::graph::detail::detailed_graph;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A log with one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun; 1],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SarifRun {
    tool: Tool,
    #[serde(rename = "columnKind")]
    column_kind: &'static str,
    results: Vec<SarifResult>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Rule {
    id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Message {
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

impl SarifLog {
    fn new(results: Vec<SarifResult>) -> Self {
        let ids: BTreeMap<&str, ()> = results.iter().map(|result| (result.rule_id.as_str(), ())).collect();
        let rules = ids.into_keys().map(|id| Rule { id: id.to_owned() }).collect();
        let driver = Driver { name: "stan", version: env!("CARGO_PKG_VERSION"), rules };
        let run = SarifRun { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
        Self { schema: SCHEMA, version: "2.1.0", runs: [run] }
    }

    /// The problems of a reply, at their lines.
    pub fn of_reply(report: &ReplyReport) -> Self {
        let result = |finding: &stan_model::document::assistant_reports::Finding| SarifResult {
            rule_id: finding.code.to_string(),
            level: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: Message { text: format!("{}; {}", finding.message, finding.remedy) },
            locations: vec![location(&report.reply, finding.line, Some(finding.column))],
            related_locations: Vec::new(),
        };
        Self::new(report.findings.iter().map(result).collect())
    }

    /// One result per cycle, at the first file of its ring.
    pub fn of_cycles(report: &CyclesReport) -> Self {
        let result = |cycle: &crate::answers::FoundCycle| {
            let mut files = cycle.ring.iter().map(|file| location(file, 1, None));
            let first = cycle.ring.first().map_or("", String::as_str);
            let way = cycle.ring.join(" -> ");
            SarifResult {
                rule_id: "import-cycle".to_owned(),
                level: "warning",
                message: Message { text: format!("{} files import one another: {way} -> {first}", cycle.size) },
                locations: files.next().into_iter().collect(),
                related_locations: files.collect(),
            }
        };
        Self::new(report.cycles.iter().map(result).collect())
    }

    /// One result per unresolved import of a repository file, at its line.
    pub fn of_missing_imports(
        engine: &Engine<'_>,
        repository: &Repository<'_>,
        work: &GraphRequest,
    ) -> Result<Self, EngineError> {
        let options = repository.config.graph_options(repository.root);
        let detailed = detailed_graph(engine, &options, work)?;
        let graph = &detailed.graph;
        let mut results = Vec::new();
        for file in graph.indices().filter(|file| graph.node(*file).kind == NodeKind::Source) {
            let name = &graph.node(file).id;
            let mut requests = detailed.missing_requests(file);
            requests.dedup_by_key(|request| (request.line, request.specifier));
            results.extend(requests.iter().map(|request| SarifResult {
                rule_id: "missing-import".to_owned(),
                level: "error",
                message: Message { text: format!("`{}` does not resolve to a file", request.specifier) },
                locations: vec![location(name, request.line, None)],
                related_locations: Vec::new(),
            }));
        }
        Ok(Self::new(results))
    }
}

fn location(file: &str, line: u32, column: Option<u32>) -> Location {
    let uri = uri(file);
    let region = Region { start_line: line.max(1), start_column: column.filter(|column| *column > 0) };
    Location { physical_location: PhysicalLocation { artifact_location: ArtifactLocation { uri }, region } }
}

/// A path as a relative reference (RFC 3986): everything except unreserved characters and slashes is percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use stan_repo::MemorySystem;

    use super::*;
    use crate::answers::{CyclesRequest, cycles};
    use crate::config::Config;
    use crate::outline::AnswerSize;

    #[test]
    fn unresolved_imports_have_file_and_line() {
        let system = MemorySystem::new();
        system.set_file(
            "/r/ä b.ts",
            "import './gone';\nimport type { A } from './gone';\nimport 'bare';\nimport './c';\n",
        );
        system.set_file("/r/c.ts", "export {};\n");
        let config = Config::default();
        let repository = Repository { root: "/r", config: &config };
        let log = SarifLog::of_missing_imports(&Engine::new(&system), &repository, &GraphRequest::default())
            .expect("it has a graph");
        let shown: Vec<(String, u32, String)> = log.runs[0]
            .results
            .iter()
            .map(|result| {
                let place = &result.locations[0].physical_location;
                (place.artifact_location.uri.clone(), place.region.start_line, result.message.text.clone())
            })
            .collect();
        let expected = [(1, "./gone"), (2, "./gone"), (3, "bare")];
        let expected = expected
            .map(|(line, name)| ("%C3%A4%20b.ts".to_owned(), line, format!("`{name}` does not resolve to a file")));
        assert_eq!(shown, expected);
    }

    #[test]
    fn cycles_name_their_ring() {
        let system = MemorySystem::new();
        system.set_file("/r/a.ts", "import './b';\n");
        system.set_file("/r/b.ts", "import './a';\n");
        let config = Config::default();
        let repository = Repository { root: "/r", config: &config };
        let request = CyclesRequest { kinds: 7, shortest: false, size: AnswerSize { budget: 0, limit: None } };
        let report =
            cycles(&Engine::new(&system), &repository, &request, &GraphRequest::default()).expect("it has a graph");
        let json = serde_json::to_value(SarifLog::of_cycles(&report)).expect("it is JSON");
        assert_eq!(json["version"], "2.1.0");
        assert_eq!(json["runs"][0]["tool"]["driver"]["rules"], serde_json::json!([{ "id": "import-cycle" }]));
        let result = &json["runs"][0]["results"][0];
        assert_eq!(result["message"]["text"], "2 files import one another: a.ts -> b.ts -> a.ts");
        assert_eq!(result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], "b.ts");
    }
}
