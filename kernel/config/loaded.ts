import type { Env } from "../../sdk/types/common.ts";
import type { ReadConfig } from "../../sdk/types/config-file.ts";
import type { ResolvedRef, SecretState } from "../secrets/state.ts";
import type { ConfigOrigin } from "./origin.ts";
import type { Locate } from "./place.ts";

/** One file of a config as it was read. */
export interface ConfigFile {
  /** Absolute, as named (links not followed). */
  path: string;
  /** Without the byte order mark. */
  text: string;
  /** The file began with a byte order mark; a writer keeps it. */
  bom: boolean;
}

/**
 * A config file with all it includes, read once. Four trees are kept apart: only `authored` is ever edited, only `config` is ever used,
 * and nothing of `resolved` or `config` is ever written to disk.
 */
export interface LoadedConfig extends ReadConfig {
  /** Absolute path of the main file. */
  path: string;
  /** Every file that was read, main file first, in the order of reading; empty when there is no main file. */
  files: ConfigFile[];
  /** Paths to watch: the files above, missing ones that were tried, and the targets of links. Absolute. */
  watched: string[];
  /** Text of the main file without byte order mark; `""` when there is none. */
  text: string;
  /** Main file as parsed: `$include` and `${NAME}` still in it. */
  authored: unknown;
  /** Dotted paths that have no value although one is written: a variable is not set, or a secret could not be had. Reasons hold no secret. */
  unresolved: Array<{ path: string; reason: string }>;
  /** Resolved secrets by dotted path: SecretRefs, and sensitive keys with plain or substituted values. For redaction and for the next reload. */
  secrets: Map<string, string>;
  /** State of the SecretRefs, by owner. */
  secretState: SecretState;
  /** Every SecretRef in use by dotted path, values included: never printed. The next load asks it for what it can keep. */
  refs: ReadonlyMap<string, ResolvedRef>;
  /** The environment as this config sees it: the caller's, then `env.vars`, then missing credentials of the login shell. */
  env: Env;
  /** Variables from `env.shellEnv`; read once per process. */
  shellEnv?: Env;
  /** Returns the file that a path of the source tree comes from, and how it got there. */
  originOf(path: ReadonlyArray<PropertyKey>): ConfigOrigin;
  /** Place of a path of the source tree, with the name of its file when that is not the main one. */
  locate: Locate;
}
