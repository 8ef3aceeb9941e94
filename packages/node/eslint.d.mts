import plugin from './eslint.cjs';

export declare const rules: typeof plugin.rules;
export declare const configs: typeof plugin.configs;
declare const exported: { rules: typeof rules; configs: typeof configs };
export default exported;
