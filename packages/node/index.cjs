'use strict';
// The public functions. Each hands its options to the engine; nothing is decided here.

const { StanError, call, callSync, placed } = require('./native.cjs');

const DEPENDENCY_META_SCHEMA_VERSION = 2;
const NODE_KIND = Object.freeze({ source: 0, external: 1, builtin: 2, missing: 3 });

const generateDependencyGraph = async (options) => {
  // The engine needs no compiler: what is given is not looked at.
  const { typescript, typescriptPath, ...rest } = options ?? {};
  return call('generateDependencyGraph', placed(rest));
};

const summarizeDependencySelection = (options) => callSync('summarizeDependencySelection', options);
const encodeDependencyMeta = (options) => callSync('encodeDependencyMeta', options);

const pack = async (options) => call('pack', placed(options));
const overview = async (options) => call('overview', placed(options));
const suggest = async (options) => call('suggest', placed(options));
const select = async (options) => call('select', placed(options));
const verify = async (options) => call('verify', placed(options));

module.exports = {
  DEPENDENCY_META_SCHEMA_VERSION,
  NODE_KIND,
  StanError,
  encodeDependencyMeta,
  generateDependencyGraph,
  overview,
  pack,
  select,
  suggest,
  summarizeDependencySelection,
  verify,
};
