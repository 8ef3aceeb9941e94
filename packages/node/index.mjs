// The same functions for `import`.

import exported from './index.cjs';

export const {
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
} = exported;
