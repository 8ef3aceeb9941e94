// The answers are those of the program: on three packages (paths in STAN_PACKAGES, separated by `:`, else small ones of our own).

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { generateDependencyGraph, overview, pack, select, suggest, verify } from '../index.mjs';
import { FILES, program, stan, withRepository } from './repository.mjs';

const skip = program === undefined ? 'STAN_PROGRAM does not say where the program is' : false;

/** A copy, so that nothing is written into the original. */
const withCopy = async (folder, work) => {
  const root = mkdtempSync(join(tmpdir(), 'stan-package-'));
  try {
    cpSync(folder, root, { recursive: true });
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

const js = (text) => `export const value = ${text};\n`;
const OWN = {
  typescript: (work) => withRepository(FILES, work),
  python: (work) =>
    withRepository({ 'pkg/__init__.py': 'from .a import f\n', 'pkg/a.py': 'import os\ndef f():\n    return os.sep\n' }, work),
  mixed: (work) =>
    withRepository({ 'a.mjs': "import './b.cjs';\n", 'b.cjs': "require('./c.json');\n", 'c.json': '{}\n', 'ü/d.ts': js(1) }, work),
};
const given = (process.env.STAN_PACKAGES ?? '').split(':').filter(Boolean);
const packages = given.length > 0 ? Object.fromEntries(given.map((folder) => [folder, (work) => withCopy(folder, work)])) : OWN;

/** Files with their hashes and edges, without what is missing. */
const between = ({ graph }) =>
  Object.values(graph.nodes)
    .filter((node) => node.kind !== 'missing')
    .map(({ id, kind, metadata }) => [id, kind, metadata, graph.edges[id].filter(({ target }) => graph.nodes[target].kind !== 'missing')]);

for (const [name, open] of Object.entries(packages)) {
  test(`${name}: every verb gives the program's answer`, { skip }, () =>
    open(async (cwd) => {
      const printed = stan(cwd, 'graph', '--json', '--no-cache');
      const result = await generateDependencyGraph({ cwd, form: 'program' });
      assert.deepEqual(result, printed);
      // For callers of stan-context the same files, with the same edges between them.
      const known = await generateDependencyGraph({ cwd });
      assert.deepEqual(between(known), between(result));
      assert.equal(known.stats.dirty, result.stats.dirty);

      assert.deepEqual(await overview({ cwd, budget: 2000 }), stan(cwd, 'map', '--json', '--budget', '2000'));
      const focus = Object.values(result.graph.nodes).find((node) => node.kind === 'source' && result.graph.edges[node.id].length > 0);
      assert.deepEqual(
        await suggest({ cwd, focus: focus.id, budget: 4000 }),
        stan(cwd, 'suggest', '--json', '--focus', focus.id, '--budget', '4000'),
      );
      const packed = await pack({ cwd, focus: focus.id, budget: 4000 });
      assert.deepEqual(packed.pack, stan(cwd, 'pack', '--json', '--focus', focus.id, '--budget', '4000'));
      stan(cwd, 'run', '--context', '--meta', '--json');
      assert.deepEqual(await select({ cwd }), stan(cwd, 'select', '--json'));
      assert.deepEqual(await verify({ cwd }), stan(cwd, 'verify', '--json'));
    }));
}
