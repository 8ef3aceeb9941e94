//! The text of a generated file, as a function of the seed and the file's number: valid TypeScript with imports, most of which
//! resolve.
//!
//! Nothing here touches the disk.

use stan_testkit::Random;

use super::layout::{Package, module_below_src};

/// Installed packages that modules import: name, version.
pub(super) const INSTALLED: [(&str, &str); 3] = [("left-hand", "1.2.3"), ("@tools/right", "4.0.0"), ("deep", "0.1.0")];

/// Bodies of modules, generated once: two gigabytes are assembled from them.
pub(super) struct Bodies(Vec<String>);

impl Bodies {
    pub(super) fn new() -> Self {
        let mut random = Random::new(0xB0D1E5);
        Bodies((0..96).map(|_| body(&mut random)).collect())
    }
}

/// The modules and packages that a module can import.
pub(super) struct Surroundings<'a> {
    pub(super) packages: &'a [Package],
    pub(super) package: &'a Package,
    pub(super) bodies: &'a Bodies,
}

/// The module with this number; another `version` gives another text of about the same size.
pub(super) fn module(around: &Surroundings<'_>, number: u64, version: u64) -> String {
    let seed = (around.package.number << 40) ^ (number << 8) ^ version.wrapping_mul(0x0001_0000_0001);
    let mut random = Random::new(seed);
    let wanted = around.package.module_bytes * (40 + random.below_u64(120)) / 100;
    let mut text = String::with_capacity(usize::try_from(wanted).unwrap_or(0) + 2048);
    if random.one_in(3) {
        text.push_str(&format!("/** @module Part {number} of {}, version {version}. */\n", around.package.name()));
    }
    let uses = imports(around, number, &mut random, &mut text);
    text.push_str(&format!(
        "export interface Shape{number} {{ id: number; label: string; tags?: readonly string[] }}\n"
    ));
    text.push_str(&format!("export const all{number} = [{}];\n", uses.join(", ")));
    let mut step = 0;
    while (text.len() as u64) < wanted || step == 0 {
        let body = random.pick(&around.bodies.0).map_or("() { return 0; }\n", String::as_str);
        text.push_str(&format!("\nexport function step{step}"));
        text.push_str(body);
        step += 1;
    }
    if random.one_in(10) {
        let target = relative(number, random.below_u64(around.package.modules));
        text.push_str(&format!("\nexport const later = () => import(\"{target}\");\n"));
    }
    text
}

/// Writes the imports, and returns the imported names.
fn imports(around: &Surroundings<'_>, number: u64, random: &mut Random, text: &mut String) -> Vec<String> {
    let mut uses = Vec::new();
    for index in 0..1 + random.below_u64(5) {
        let other = random.below_u64(around.package.modules);
        if other == number {
            continue;
        }
        let target = relative(number, other);
        if random.one_in(4) {
            text.push_str(&format!("import type {{ Shape{other} as Type{index} }} from \"{target}\";\n"));
            text.push_str(&format!("export type Alias{index} = Type{index};\n"));
        } else {
            text.push_str(&format!("import {{ step0 as step{index}Of{other} }} from \"{target}\";\n"));
            uses.push(format!("step{index}Of{other}"));
        }
    }
    if random.one_in(5)
        && let Some(other) = random.pick(around.packages)
        && other.number != around.package.number
    {
        text.push_str(&format!("import {{ first as first{} }} from \"{}\";\n", other.number, other.name()));
        uses.push(format!("first{}", other.number));
    }
    if random.one_in(8)
        && let Some((name, _)) = random.pick(&INSTALLED)
    {
        text.push_str(&format!("import installed from \"{name}\";\n"));
        uses.push("installed".to_owned());
    }
    if random.one_in(12) {
        text.push_str("import { readFile } from \"node:fs\";\n");
        uses.push("readFile".to_owned());
    }
    if random.one_in(20) && around.package.assets > 0 {
        let asset = super::layout::asset_name(random.below_u64(around.package.assets));
        text.push_str(&format!("import asset from \"../../assets/{asset}\";\n"));
        uses.push("asset".to_owned());
    }
    if random.one_in(400) {
        text.push_str("import { nothing } from \"./not-there.js\";\n");
        uses.push("nothing".to_owned());
    }
    uses
}

/// The specifier of module `to` in module `from` of the same package.
fn relative(from: u64, to: u64) -> String {
    let (from_folder, target) = (module_below_src(from), module_below_src(to));
    let target = target.replace(".ts", ".js");
    match (from_folder.split_once('/'), target.split_once('/')) {
        (Some((here, _)), Some((there, name))) if here == there => format!("./{name}"),
        _ => format!("../{target}"),
    }
}

/// The barrel of a package: one name from the first module of every folder, `first` from the first folder.
pub(super) fn barrel(package: &Package) -> String {
    let mut text = format!("/** @module What {} offers. */\n", package.name());
    for module in (0..package.modules).step_by(50) {
        let target = module_below_src(module).replace(".ts", ".js");
        let name = if module == 0 { "first".to_owned() } else { format!("area{}", module / 50) };
        text.push_str(&format!("export {{ step0 as {name} }} from \"./{target}\";\n"));
    }
    text
}

/// An asset; every fifth is binary.
pub(super) fn asset(package: &Package, number: u64) -> Vec<u8> {
    let mut random = Random::new((package.number << 40) ^ (number << 8) ^ 0xA55E7);
    let wanted = usize::try_from(package.asset_bytes * (50 + random.below_u64(100)) / 100).unwrap_or(0).max(64);
    let mut bytes = Vec::with_capacity(wanted + 64);
    match number % 5 {
        0 => bytes.extend_from_slice(b"<svg xmlns=\"x\">\n"),
        1 => bytes.extend_from_slice(b"[\n"),
        4 => bytes.extend_from_slice(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        _ => {}
    }
    while bytes.len() < wanted {
        let value = random.next();
        match number % 5 {
            0 => bytes.extend_from_slice(format!("<path d=\"M{} {}\"/>\n", value % 997, value % 991).as_bytes()),
            1 => bytes.extend_from_slice(format!("  {{ \"key\": {} }},\n", value % 100_000).as_bytes()),
            2 => bytes.extend_from_slice(format!(".c{} {{ color: #{:06x}; }}\n", value % 9973, value >> 40).as_bytes()),
            3 => bytes.extend_from_slice(format!("- word {} and word {}\n", value % 7919, value >> 50).as_bytes()),
            _ => bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }
    match number % 5 {
        0 => bytes.extend_from_slice(b"</svg>\n"),
        1 => bytes.extend_from_slice(b"  {}\n]\n"),
        _ => {}
    }
    bytes
}

fn body(random: &mut Random) -> String {
    let mut text = String::from("(input: number, label = \"none\"): number {\n  let total = input;\n");
    for line in 0..4 + random.below_u64(14) {
        let (a, b) = (random.below_u64(1000), 1 + random.below_u64(97));
        text.push_str(&match random.below_u64(5) {
            0 => format!("  const part{line} = total * {b} + label.length; // keeps the sign of what came in\n"),
            1 => format!("  if (total % {b} === 0) {{ total += {a}; }} else {{ total -= {b}; }}\n"),
            2 => format!("  for (let index = 0; index < {b}; index += 1) {{ total += index ^ {a}; }}\n"),
            3 => format!("  total += [{a}, {b}, total].map((value) => value + {a}).filter(Boolean).length;\n"),
            _ => format!("  label = `${{label}}-{a}-${{total.toString(36).padStart({b}, \"0\")}}`;\n"),
        });
    }
    text.push_str("  return total;\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::super::layout::Shape;
    use super::{Bodies, Surroundings, asset, module, relative};

    #[test]
    fn specifiers_are_relative() {
        assert_eq!(relative(0, 1), "./module-00001.js");
        assert_eq!(relative(0, 50), "../area-001/module-00050.js");
    }

    #[test]
    fn texts_depend_on_their_numbers_alone_and_have_about_the_requested_size() {
        let packages = Shape { files: 600, bytes: 6_000_000 }.packages();
        let bodies = Bodies::new();
        let around = Surroundings { packages: &packages, package: &packages[0], bodies: &bodies };
        assert_eq!(module(&around, 3, 0), module(&around, 3, 0));
        assert_ne!(module(&around, 3, 0), module(&around, 4, 0));
        assert_ne!(module(&around, 3, 0), module(&around, 3, 1));
        let total: usize = (0..packages[0].modules).map(|number| module(&around, number, 0).len()).sum();
        let planned = packages[0].modules * packages[0].module_bytes;
        let ratio = total as f64 / planned as f64;
        assert!((0.9..1.2).contains(&ratio), "{ratio}");
    }

    #[test]
    fn every_fifth_asset_is_binary() {
        let packages = Shape { files: 600, bytes: 6_000_000 }.packages();
        for number in 0..10 {
            assert_eq!(asset(&packages[0], number).contains(&0), number % 5 == 4, "{number}");
        }
    }
}
