'use strict';
// A plugin for ESLint. Whether a module is documented is decided by the engine, by the rules of node descriptions.

const { callSync } = require('./native.cjs');

/** Where to report: at the comment with the empty tag, else at the first token, never over the whole file. */
const placeOf = (source, tag) => {
  const isDoc = (comment) => comment.type === 'Block' && comment.value.startsWith('*') && comment.value.includes(tag);
  const comment = tag === null ? undefined : source.getAllComments().find(isDoc);
  const token = source.getFirstToken(source.ast.body[0] ?? source.ast);
  return comment?.loc ?? token?.loc ?? undefined;
};

const requireModuleDescription = {
  meta: {
    type: 'suggestion',
    docs: { description: 'Require words about the module in a doc comment with one of the tags.' },
    schema: [
      {
        type: 'object',
        properties: {
          tags: { type: 'array', items: { type: 'string', pattern: '^@\\w+$' }, minItems: 1 },
          ignorePatterns: { type: 'array', items: { type: 'string' }, minItems: 1 },
        },
        additionalProperties: false,
      },
    ],
  },
  create(context) {
    const { tags, ignorePatterns } = context.options[0] ?? {};
    return {
      Program(node) {
        const source = context.sourceCode;
        const filename = context.filename ?? context.getFilename?.();
        const { message, emptyTag } = callSync('describeModule', { text: source.text, filename, tags, ignorePatterns });
        if (message === null) return;
        const loc = placeOf(source, emptyTag);
        context.report(loc === undefined ? { node, message } : { node, loc, message });
      },
    };
  },
};

const rules = { 'require-module-description': requireModuleDescription };

const extensions = '{ts,tsx,mts,cts,js,jsx,mjs,cjs}';
const configs = {
  recommended: {
    rules: {
      'stan-context/require-module-description': [
        'warn',
        {
          ignorePatterns: [
            `**/*.{test,spec,e2e,integration}.${extensions}`,
            `**/{test,tests,__tests__}/**/*.${extensions}`,
          ],
        },
      ],
    },
  },
};

module.exports = { rules, configs };
module.exports.default = module.exports;
