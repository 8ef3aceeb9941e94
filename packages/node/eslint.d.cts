// Types of the plugin, without those of ESLint: it need not be installed.

interface Rule {
  meta: { type: 'suggestion'; docs: { description: string }; schema: object[] };
  create(context: any): Record<string, (node: any) => void>;
}

export declare const rules: { 'require-module-description': Rule };
export declare const configs: {
  recommended: { rules: Record<string, ['warn', { tags?: string[]; ignorePatterns?: string[] }]> };
};
declare const plugin: { rules: typeof rules; configs: typeof configs };
export default plugin;
