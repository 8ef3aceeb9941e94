// The plugin for `import`.

import plugin from './eslint.cjs';

export const { rules, configs } = plugin;
export default plugin;
