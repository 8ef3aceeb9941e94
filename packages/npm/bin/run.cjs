'use strict';
// Starts a program of the package for this platform, with the same streams, and ends as it ends.

const { spawnSync } = require('node:child_process');
const { dirname, join } = require('node:path');

module.exports = (program) => {
  const name = `@stan/cli-${process.platform}-${process.arch}`;
  let folder;
  try {
    folder = dirname(require.resolve(`${name}/package.json`));
  } catch {
    console.error(`error: ${name} is not installed`);
    console.error('  help: install without leaving optional dependencies out; Linux and macOS on x64 and arm64 have one');
    process.exit(1);
  }
  const run = spawnSync(join(folder, 'bin', program), process.argv.slice(2), { stdio: 'inherit' });
  if (run.error) {
    console.error(`error: ${program} cannot be started: ${run.error.message}`);
    process.exit(4);
  }
  if (run.signal) process.kill(process.pid, run.signal);
  process.exit(run.status ?? 4);
};
