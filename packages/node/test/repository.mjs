// Small repositories in temporary folders, and the program to compare with.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs `work` with the path of a folder that holds these files. */
export const withRepository = async (files, work) => {
  const root = mkdtempSync(join(tmpdir(), 'stan-node-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

/** The program, when the environment says where it is. */
export const program = process.env.STAN_PROGRAM;

/** What the program prints, as JSON; its exit code does not matter. */
export const stan = (root, ...args) => {
  const run = spawnSync(program, ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (run.stdout === '') throw new Error(run.stderr);
  return JSON.parse(run.stdout);
};

export const FILES = {
  'package.json': '{"name":"r","version":"1.0.0"}\n',
  'src/index.ts': "/**\n * @module\n * Where it starts.\n */\nimport { add } from './lib';\nimport './gone';\nimport fs from 'fs';\nexport const run = () => add(1, 2) + fs.constants.F_OK;\n",
  'src/lib/index.ts': "export { add } from './add';\n",
  'src/lib/add.ts': 'export const add = (left: number, right: number): number => left + right;\n',
  'tools/x.py': 'import os\n',
  'docs/a.md': '# A\n',
};
