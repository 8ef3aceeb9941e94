// Builds the addon for this machine and puts it beside the package: `node build.mjs [--profile NAME]`.

import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const at = process.argv.indexOf('--profile');
const profile = at < 0 ? 'release' : process.argv[at + 1];
const manifest = join(here, 'native', 'Cargo.toml');
const target = process.env.CARGO_TARGET_DIR ?? join(here, '..', '..', 'target');
const run = spawnSync(
  'cargo',
  ['build', '--locked', '--profile', profile, '--manifest-path', manifest, '--target-dir', target],
  { stdio: 'inherit' },
);
if (run.status !== 0) process.exit(run.status ?? 1);
const library = process.platform === 'darwin' ? 'libstan_node.dylib' : 'libstan_node.so';
copyFileSync(join(target, profile === 'dev' ? 'debug' : profile, library), join(here, 'stan.node'));
