//! Generates a repository: packages of small TypeScript files that import each other, some by package name.

use std::path::Path;

use super::super::fetch::make_repository;
use crate::Result;

const FILES_PER_FOLDER: usize = 20;
const FOLDERS_PER_PACKAGE: usize = 50;

/// `files` is approximate.
pub(super) fn repository(folder: &Path, files: usize) -> Result<()> {
    let per_package = FILES_PER_FOLDER * FOLDERS_PER_PACKAGE;
    let write = |path: &str, text: &str| -> Result<()> {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        Ok(std::fs::write(path, text)?)
    };
    write("package.json", "{ \"name\": \"generated\", \"private\": true, \"workspaces\": [\"packages/*\"] }\n")?;
    write("tsconfig.json", "{ \"compilerOptions\": { \"strict\": true, \"moduleResolution\": \"bundler\" } }\n")?;
    for package in 0..files.div_ceil(per_package) {
        let base = format!("packages/p{package}");
        let manifest =
            format!("{{ \"name\": \"@x/p{package}\", \"version\": \"1.0.0\", \"main\": \"src/index.ts\" }}\n");
        write(&format!("{base}/package.json"), &manifest)?;
        let barrel: String =
            (0..FOLDERS_PER_PACKAGE).map(|number| format!("export * from './d{number}/f0';\n")).collect();
        write(&format!("{base}/src/index.ts"), &barrel)?;
        for number in 0..per_package.min(files - package * per_package) {
            let (directory, file) = (number / FILES_PER_FOLDER, number % FILES_PER_FOLDER);
            write(&format!("{base}/src/d{directory}/f{file}.ts"), &module(package, directory, file))?;
        }
    }
    make_repository(folder)
}

fn module(package: usize, directory: usize, file: usize) -> String {
    let mut text = String::new();
    for step in 1..=3 {
        let other = ((directory + step * 7) % FOLDERS_PER_PACKAGE, (file + step * 3) % FILES_PER_FOLDER);
        text += &format!("import {{ v{0}_{1}, T{0}_{1} }} from '../d{0}/f{1}';\n", other.0, other.1);
    }
    if package > 0 {
        text += &format!("import {{ v{}_0 as other }} from '@x/p{}';\n", directory, package - 1);
    }
    text += &format!(
        "export interface T{directory}_{file} {{ a: number; b: string; }}\n/** Value {file}. */\n\
         export const v{directory}_{file} = (x: T{directory}_{file}): number => {{ return x.a + 1; }};\n"
    );
    for number in 0..6 {
        text += &format!(
            "export function fn{number}(x: T{directory}_{file}, y: number): string {{\n  const z = v{directory}_{file}(x);\n  \
             return String(z + y + {number});\n}}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::module;

    #[test]
    fn modules_import_their_neighbours_and_the_package_before() {
        let text = module(1, 2, 3);
        assert!(text.contains("from '../d9/f6'") && text.contains("from '@x/p0'"), "{text}");
        assert!(!module(0, 2, 3).contains("@x/"));
    }
}
