// Runs the tests of stan-context 0.6 against this package: `node compat/run.mjs CHECKOUT [SCRATCH]`.
//
// CHECKOUT is a folder with the sources of stan-context 0.6.0. It is copied to a scratch folder, where the modules of its public
// functions are replaced by this package; its tests are not changed. Vitest and TypeScript are installed in the scratch folder
// when they are not there. exclusions.json names, with a reason each, the files that test other internals, which are not run,
// and single tests. An excluded test that passes, or that is not there, is an error too: the list stays true.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [checkout, given] = process.argv.slice(2);
if (checkout === undefined || !existsSync(join(checkout, 'src', 'stan-context'))) {
  console.error('usage: node compat/run.mjs CHECKOUT-OF-STAN-CONTEXT-0.6 [SCRATCH]');
  process.exit(2);
}
const scratch = resolve(given ?? mkdtempSync(join(tmpdir(), 'stan-compat-')));

// --- the copy
mkdirSync(scratch, { recursive: true });
cpSync(join(checkout, 'src'), join(scratch, 'src'), { recursive: true });
const api = JSON.stringify(join(here, '..', 'index.mjs'));
const plugin = JSON.stringify(join(here, '..', 'eslint.mjs'));
const native = JSON.stringify(join(here, '..', 'native.cjs'));
const SHIMS = {
  // The public functions themselves.
  'stan-context/generateDependencyGraph.ts': `export { generateDependencyGraph } from ${api};\n`,
  'stan-context/selection/summarizeDependencySelection.ts': `export { summarizeDependencySelection } from ${api};\n`,
  'stan-context/meta/encodeDependencyMeta.ts': `export { encodeDependencyMeta } from ${api};\n`,
  'eslint/rules/require-module-description.ts':
    `import { rules } from ${plugin};\nexport const requireModuleDescriptionRule = rules['require-module-description'];\n`,
  // Internals that the public functions show: the files of a graph, and the description of a module.
  'stan-context/core/universe.ts':
    `import { generateDependencyGraph } from ${api};\n` +
    'export const scanUniverseFiles = async (options) =>\n' +
    '  Object.values((await generateDependencyGraph(options)).graph.nodes).filter((it) => it.metadata).map((it) => it.id);\n',
  'stan-context/providers/ts/describe.ts':
    `import native from ${native};\n` +
    'export const describeTsJsModule = ({ sourceText: text, nodeDescriptionLimit: limit, tags }) =>\n' +
    "  native.callSync('describeModule', { text, limit, tags }).description ?? undefined;\n",
};
for (const [file, text] of Object.entries(SHIMS)) writeFileSync(join(scratch, 'src', file), text);
const { internals, exclusions } = JSON.parse(readFileSync(join(here, 'exclusions.json'), 'utf8'));
for (const { file } of internals) rmSync(join(scratch, 'src', file));
writeFileSync(join(scratch, 'package.json'), '{"type":"module","private":true}\n');
writeFileSync(join(scratch, 'vitest.config.mjs'), 'export default { test: { globals: true, include: ["src/**/*.test.ts"] } };\n');
if (!existsSync(join(scratch, 'node_modules', 'vitest'))) {
  const install = ['install', '--silent', '--no-audit', '--no-fund', '--no-package-lock', 'vitest@3', 'typescript@5.9'];
  if (spawnSync('npm', install, { cwd: scratch, stdio: 'inherit' }).status !== 0) process.exit(1);
}

// --- the tests
const report = join(scratch, 'report.json');
const vitest = join(scratch, 'node_modules', 'vitest', 'vitest.mjs');
spawnSync(process.execPath, [vitest, 'run', '--reporter=json', `--outputFile=${report}`], { cwd: scratch, stdio: 'inherit' });
const passed = new Map();
for (const { name, assertionResults, message } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
  const file = relative(join(scratch, 'src'), name);
  if (assertionResults.length === 0) passed.set(`${file} > (does not load)`, { ok: false, message });
  for (const { fullName, status, failureMessages } of assertionResults) {
    passed.set(`${file} > ${fullName}`, { ok: status === 'passed', message: failureMessages.join('\n') });
  }
}

// --- the verdict
const faults = [];
for (const { test } of exclusions) {
  const result = passed.get(test);
  if (result === undefined) faults.push(`excluded, but there is no such test: ${test}`);
  else if (result.ok) faults.push(`excluded, but it passes: ${test}`);
}
const excluded = new Set(exclusions.map(({ test }) => test));
for (const [test, { ok, message }] of passed) {
  if (!ok && !excluded.has(test)) faults.push(`fails: ${test}\n  ${message.split('\n').slice(0, 3).join('\n  ')}`);
}
const good = [...passed.values()].filter(({ ok }) => ok).length;
if (good === 0) faults.push('no test passed');
for (const fault of faults) console.error(fault);
console.log(
  `stan-context 0.6: ${good} tests pass, ${excluded.size} excluded, ${internals.length} files of internals not run, ${faults.length} faults`,
);
process.exit(faults.length === 0 ? 0 : 1);
