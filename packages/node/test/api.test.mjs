// The public functions: results, options, errors, both module systems, and that work does not block the event loop.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import * as stan from '../index.mjs';
import plugin, { configs, rules } from '../eslint.mjs';
import { FILES, withRepository } from './repository.mjs';

const require = createRequire(import.meta.url);

test('the same functions are there for import and for require', () => {
  const required = require('../index.cjs');
  assert.deepEqual(Object.keys(required).sort(), Object.keys(stan).sort());
  for (const [name, value] of Object.entries(required)) assert.equal(stan[name], value, name);
  assert.deepEqual(stan.NODE_KIND, { source: 0, external: 1, builtin: 2, missing: 3 });
  assert.equal(stan.DEPENDENCY_META_SCHEMA_VERSION, 2);
});

test('a graph has the nodes, edges and languages of stan-context', () =>
  withRepository(FILES, async (cwd) => {
    const { graph, stats, errors } = await stan.generateDependencyGraph({ cwd, typescript: { version: 'any' } });
    assert.deepEqual(graph.edges['src/index.ts'], [
      { target: './gone', kind: 'runtime', resolution: 'explicit' },
      { target: 'node:fs', kind: 'runtime', resolution: 'explicit' },
      { target: 'src/lib/add.ts', kind: 'runtime', resolution: 'implicit' },
      { target: 'src/lib/index.ts', kind: 'runtime', resolution: 'explicit' },
    ]);
    assert.equal(graph.nodes['src/index.ts'].description, 'Where it starts.');
    assert.equal(graph.nodes['tools/x.py'].language, 'other');
    assert.equal(graph.nodes['src/lib/add.ts'].metadata.hash.length, 64);
    assert.equal(stats.modules, Object.keys(graph.nodes).length);
    assert.deepEqual(errors, []);
  }));

test('the work is done off the event loop', () =>
  withRepository(FILES, async (cwd) => {
    let turns = 0;
    let done = false;
    const pending = stan.generateDependencyGraph({ cwd }).finally(() => (done = true));
    while (!done) {
      turns += 1;
      await new Promise(setImmediate);
    }
    await pending;
    assert.ok(turns > 1, `${turns} turns`);
    const many = await Promise.all(Array.from({ length: 8 }, () => stan.generateDependencyGraph({ cwd })));
    for (const result of many) assert.deepEqual(result, many[0]);
  }));

test('an earlier graph tells what changed', () =>
  withRepository(FILES, async (cwd) => {
    const { graph } = await stan.generateDependencyGraph({ cwd });
    writeFileSync(join(cwd, 'src/lib/add.ts'), 'export const add = () => 0;\n');
    const next = await stan.generateDependencyGraph({ cwd, previousGraph: graph });
    assert.equal(next.stats.dirty, 3);
  }));

test('selections and maps are made at once', () =>
  withRepository(FILES, async (cwd) => {
    const { graph } = await stan.generateDependencyGraph({ cwd });
    const summary = stan.summarizeDependencySelection({ graph, include: [['src/index.ts', 1, ['runtime']]] });
    assert.deepEqual(summary.selectedNodeIds, ['src/index.ts', 'src/lib/add.ts', 'src/lib/index.ts']);
    assert.equal(summary.warnings.length, 2);
    const meta = stan.encodeDependencyMeta({ graph });
    assert.deepEqual(meta.n['src/lib/index.ts'].e, [['src/lib/add.ts', 1]]);
    assert.equal(meta.n['src/index.ts'].h, undefined);
  }));

test('errors have a code, details and a hint', async () => {
  await assert.rejects(stan.overview({ cwd: '/no/such/folder' }), { name: 'StanError', code: 'STAN_INPUT' });
  await assert.rejects(stan.suggest({ cwd: '.' }), { code: 'STAN_USAGE' });
  await assert.rejects(stan.generateDependencyGraph({ cwd: '.', config: { includes: ['{'] } }), { code: 'STAN_USAGE' });
  assert.throws(() => stan.encodeDependencyMeta({}), { code: 'STAN_USAGE' });
  assert.throws(() => stan.summarizeDependencySelection(), { code: 'STAN_USAGE' });
});

test('ids that are names of Object.prototype are ids', () => {
  const graph = JSON.parse('{"nodes":{"__proto__":{"kind":"source","metadata":{"size":1}}},"edges":{}}');
  const summary = stan.summarizeDependencySelection({ graph, include: ['__proto__', 'constructor'] });
  assert.deepEqual(summary.selectedNodeIds, ['__proto__', 'constructor']);
  assert.deepEqual(summary.warnings, ['Selected nodeId not present in graph.nodes: constructor']);
});

test('the rule reports modules without words, and only those', () => {
  assert.equal(plugin.rules, rules);
  assert.ok(configs.recommended.rules['stan-context/require-module-description']);
  const report = (text, options = [], filename = 'src/a.ts') => {
    const reports = [];
    const loc = { start: { line: 1, column: 0 }, end: { line: 1, column: 1 } };
    const sourceCode = { text, ast: { body: [] }, getAllComments: () => [], getFirstToken: () => ({ loc }) };
    const context = { options, filename, sourceCode, report: (it) => reports.push(it) };
    rules['require-module-description'].create(context).Program({ type: 'Program' });
    return reports;
  };
  const [missing] = report('export {};\n');
  assert.match(missing.message, /either @module or @packageDocumentation/);
  assert.ok(missing.loc);
  assert.equal(report('/** @module\n * Words. */\nexport {};\n').length, 0);
  assert.equal(report('export {};\n', [{ ignorePatterns: ['src/**'] }]).length, 0);
  assert.equal(report('/** @module\n * Words. */\nexport {};\n', [{ tags: ['@other'] }]).length, 1);
});
