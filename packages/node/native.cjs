'use strict';
// Finds the addon and calls it. An answer that starts with `+` is a result, one that starts with `-` an error.

const path = require('node:path');

/** Why a call failed: `code` is STAN_INPUT, STAN_USAGE, STAN_VERIFICATION or STAN_INTERNAL. */
class StanError extends Error {
  constructor({ code, message, details, hint }) {
    super([message, ...details].join('\n  '));
    this.name = 'StanError';
    this.code = code;
    this.details = details;
    if (hint !== undefined) this.hint = hint;
  }
}

/** The addon: of the package for this platform, or of a build in this folder. */
const load = () => {
  const target = `${process.platform}-${process.arch}`;
  const name = `@stan/context-${target}`;
  const tried = [];
  for (const from of [name, path.join(__dirname, 'stan.node')]) {
    try {
      return require(from);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
      tried.push(from);
    }
  }
  throw new StanError({
    code: 'STAN_INPUT',
    message: `@stan/context has no addon for ${target}`,
    details: [`tried ${tried.join(' and ')}`],
    hint: `install ${name}, or do not leave optional dependencies out`,
  });
};

let addon;
const native = () => (addon ??= load());

const read = (answer) => {
  const value = JSON.parse(answer.slice(1));
  if (answer[0] === '-') throw new StanError(value);
  return value;
};

/** Options as the engine takes them: paths in it are relative to an absolute folder. */
const placed = (options) => ({ ...options, cwd: path.resolve(options?.cwd ?? '.') });

const call = async (verb, options) => read(await native().call(verb, JSON.stringify(options ?? {})));
const callSync = (verb, options) => read(native().callSync(verb, JSON.stringify(options ?? {})));

module.exports = { StanError, call, callSync, placed, version: () => native().version() };
