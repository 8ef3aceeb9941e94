// Types of the package. Reports of the newer verbs are described by the JSON Schemas in `schemas/` of the repository.

export type NodeId = string;
export type HashSizeEnforcement = 'warn' | 'error' | 'ignore';
export type GraphNodeKind = 'source' | 'external' | 'builtin' | 'missing';
export type GraphLanguage = 'ts' | 'js' | 'json' | 'md' | 'other';

export type GraphNodeMetadata = { size?: number; hash?: string; isOutsideRoot?: true };

export type GraphNode = {
  id: NodeId;
  kind: GraphNodeKind;
  language: GraphLanguage;
  description?: string;
  metadata?: GraphNodeMetadata;
};

export type GraphEdgeKind = 'runtime' | 'type' | 'dynamic';
export type GraphEdgeResolution = 'explicit' | 'implicit';
export type GraphEdge = { target: NodeId; kind: GraphEdgeKind; resolution: GraphEdgeResolution };

export type DependencyGraph = { nodes: Record<NodeId, GraphNode>; edges: Record<NodeId, GraphEdge[]> };

export type GraphOptions = {
  /** The root of the repository. Configuration files are not read. */
  cwd: string;
  /** Accepted and ignored: no compiler is needed. */
  typescript?: unknown;
  /** Accepted and ignored. */
  typescriptPath?: string;
  config?: { includes?: string[]; excludes?: string[] };
  /** An earlier result: `stats.dirty` then counts the files that differ from it or depend on one that does. */
  previousGraph?: DependencyGraph;
  /** About nodes of `previousGraph` with a hash but no size. Default `'warn'`. */
  hashSizeEnforcement?: HashSizeEnforcement;
  /** Characters after which a description is cut. Default 160; 0 for no descriptions. */
  nodeDescriptionLimit?: number;
  /** Default `['@module', '@packageDocumentation']`. */
  nodeDescriptionTags?: string[];
  /** Default 50; 0 for none. */
  maxErrors?: number;
  /** Workspace folder of stan, relative to the root. Default `.stan`. */
  stanPath?: string;
  /** `true`: keep a cache in the workspace folder; a path: keep it there. Default `false`. */
  cache?: boolean | string;
  threads?: number;
  /**
   * `'program'`: exactly the graph of `stan graph --json`: missing relative modules go by their path from the root, all
   * languages have names of their own, files of packages have no descriptions. Default `'stan-context'`.
   */
  form?: 'stan-context' | 'program';
};

export type GraphResult = {
  graph: DependencyGraph;
  stats: {
    modules: number;
    edges: number;
    /** Files that could not be read or parsed cleanly; with `previousGraph` those to be looked at again. */
    dirty: number;
  };
  errors: string[];
  /** Source files in languages that have no edges. */
  notAnalysed?: Array<{ language: string; files: number }>;
};

export declare function generateDependencyGraph(options: GraphOptions): Promise<GraphResult>;

export type DependencyEdgeType = GraphEdgeKind;

export type DependencyStateEntry =
  | string
  | [string, number]
  | [string, number, DependencyEdgeType[] | number];

export type SummarizeDependencySelectionOptions = {
  defaultEdgeKinds?: DependencyEdgeType[];
  dropNodeKinds?: Array<'builtin' | 'missing'>;
  maxTop?: number;
  hashSizeEnforcement?: HashSizeEnforcement;
};

export type DependencySelectionSummary = {
  selectedNodeIds: string[];
  selectedCount: number;
  totalBytes: number;
  largest: Array<{ nodeId: string; bytes: number }>;
  warnings: string[];
};

export declare function summarizeDependencySelection(args: {
  graph: DependencyGraph;
  include: DependencyStateEntry[];
  exclude?: DependencyStateEntry[];
  options?: SummarizeDependencySelectionOptions;
}): DependencySelectionSummary;

export declare const DEPENDENCY_META_SCHEMA_VERSION: 2;
export type DependencyMetaSchemaVersion = typeof DEPENDENCY_META_SCHEMA_VERSION;

export declare const NODE_KIND: {
  readonly source: 0;
  readonly external: 1;
  readonly builtin: 2;
  readonly missing: 3;
};
export type DependencyMetaNodeKind = (typeof NODE_KIND)[keyof typeof NODE_KIND];

/** runtime 1, type 2, dynamic 4; then, unless it is explicit alone: explicit 1, implicit 2. */
export type DependencyMetaEdge =
  | readonly [target: NodeId, kindMask: number]
  | readonly [target: NodeId, kindMask: number, resMask: number];

export type DependencyMetaNode = { k: DependencyMetaNodeKind; s?: number; d?: string; e?: DependencyMetaEdge[] };
export type DependencyMeta = { v: DependencyMetaSchemaVersion; n: Record<NodeId, DependencyMetaNode> };

export declare function encodeDependencyMeta(args: { graph: DependencyGraph }): DependencyMeta;

/** Options of every verb below: those of the program's command line. */
export type PlaceOptions = {
  /** Where paths are relative to. Default: the working directory. */
  cwd?: string;
  /** A configuration file; its folder is the root. */
  config?: string;
  stanPath?: string;
  allowOutside?: string[];
  allowSecret?: string[];
  /** Default `true`: in the workspace folder. */
  cache?: boolean | string;
  threads?: number;
};

export type Tokenizer = 'o200k' | 'cl100k' | 'bytes4';

export type PackOptions = PlaceOptions & {
  /** Output of a compiler, a linter or a test runner: its text, not the name of a file. */
  log?: string | string[];
  from?: string;
  /** `FILE:LINE` or `FILE:LINE:COLUMN`. */
  at?: string | string[];
  /** `FILE#Name` or `FILE#Name.member`. */
  symbol?: string | string[];
  focus?: string | string[];
  /** `true`: since git's index; else since a revision. */
  changed?: boolean | string;
  about?: string | string[];
  /** Default 16000; 0 for no bound. */
  budget?: number;
  tokens?: Tokenizer;
  closure?: 'all' | 'locals' | 'types' | 'imports' | 'none';
  hops?: number;
  externals?: 'auto' | 'none' | 'all';
  diagnostic?: number;
  all?: boolean;
  /** The form of `text`. Default `'md'`. */
  format?: 'md' | 'xml';
};

export type PackResult = {
  /** `schemas/stan-pack.schema.json` */
  pack: Record<string, any>;
  /** The pack for a model to read. */
  text: string;
  warnings: string[];
};

/** The declarations that explain an error, a place or a symbol: `stan pack`. */
export declare function pack(options: PackOptions): Promise<PackResult>;

export type OverviewOptions = PlaceOptions & {
  budget?: number;
  focus?: string | string[];
  level?: 'file' | 'folder' | 'package';
  tokens?: Tokenizer;
};

export type OverviewReport = {
  text: string;
  tokens: number;
  tokenizer: Tokenizer;
  budget: number;
  listed: number;
  folded: number;
  warnings: string[];
};

/** The overview that a model reads: `stan map --json`. */
export declare function overview(options?: OverviewOptions): Promise<OverviewReport>;

export type SuggestOptions = PlaceOptions & {
  /** Files, folders or globs; `:N` behind a file asks for N steps of its dependencies. */
  focus?: string | string[];
  about?: string | string[];
  changed?: boolean | string;
  log?: string;
  /** Default 32000; 0 for no bound. */
  budget?: number;
  tokens?: Tokenizer;
  compact?: boolean;
  /** Put the proposal into the selection file. */
  write?: boolean;
};

/** The files that a task needs: `stan suggest --json`, `schemas/stan-suggest.report.schema.json`. */
export declare function suggest(options: SuggestOptions): Promise<Record<string, any>>;

export type SelectOptions = PlaceOptions & {
  /** A selection, `dependency.state.json`; without it the workspace's. */
  state?: object;
  /** A map, `dependency.meta.json`; without it the workspace's, or one that is built. */
  meta?: object;
  tokens?: Tokenizer;
};

/** What a selection holds: `stan select --json`, `schemas/stan-select.report.schema.json`. */
export declare function select(options?: SelectOptions): Promise<Record<string, any>>;

export type VerifyOptions = PlaceOptions & {
  /** An archive, or a pack in any form; without it the workspace's archive. */
  archive?: string;
};

export type VerifyReport = {
  archive: string;
  matches: boolean;
  entries: number;
  differ: Array<{ path: string; with: string; expected: string; actual: string }>;
  gone: string[];
  new: string[];
  warnings: string[];
};

/** Whether an archive or a pack still says the truth: `stan verify --json`. */
export declare function verify(options?: VerifyOptions): Promise<VerifyReport>;

/** Why a call failed. */
export declare class StanError extends Error {
  code: 'STAN_INPUT' | 'STAN_USAGE' | 'STAN_VERIFICATION' | 'STAN_INTERNAL';
  /** One line for each offending place. */
  details: string[];
  /** What to do about it. */
  hint?: string;
}
