import type { ConfigIssue } from "../config/config-issue.ts";
import type { SvcConfig } from "../config/root.ts";

/** Something an operator should know that stops nothing. Dotted path; no secret in the message. */
export interface ConfigWarning {
  path: string;
  message: string;
}

/** A config file with all it includes, as a command sees it. */
export interface ReadConfig {
  /** False when there is no main file, which equals `{}`. */
  exists: boolean;
  valid: boolean;
  /** After includes, before substitution. */
  source: unknown;
  /** After substitution and SecretRefs, before defaults; what could not be resolved is left out. Never written, never sent. */
  resolved: unknown;
  /** Effective: defaults applied, deeply frozen; present when `valid`. */
  config?: SvcConfig;
  /** SHA-256 (hex) over the bytes of all files in order. */
  hash: string;
  /** Issues that make it invalid, in file order. */
  issues: ConfigIssue[];
  /** Keys and values that are written and not part of this release, in file order: the gateway runs without them, and no writer adds one. */
  unserved: ConfigIssue[];
  warnings: ConfigWarning[];
  /** Resolved secrets by dotted path: never printed. */
  secrets: Map<string, string>;
}

/** One file of a config as it lies on disk. */
export interface ConfigText {
  /** Absolute. */
  path: string;
  text: string;
  /** Without secrets; absent for a file that does not parse: nobody can tell what is secret in it. */
  redacted: string | undefined;
}

/** Change to the config. */
export type ConfigChange =
  /** The source tree (includes in place, `${NAME}` as written) → the wanted one; placeholders mean stored values. */
  | { kind: "edit"; apply(source: unknown): unknown }
  /** The main file as a whole; placeholders mean stored values. */
  | { kind: "replace"; raw: string };

/** Options of a write. */
export interface ConfigWriteOptions {
  /** Hash the caller has seen; a different one is a conflict. */
  baseHash?: string | undefined;
  /** Without `baseHash` an existing file is not touched. */
  requireHash?: boolean;
  /** Lets pass what looks like an accident: `shrink`, most of the file goes; `all`, also that `gateway.mode` goes. */
  allowDestructive?: "shrink" | "all" | undefined;
  /** Decides everything and does not change the config. */
  dryRun?: boolean;
  /** A trial keeps a refused candidate too, because the write it was for will not happen. */
  keepRefused?: boolean;
  /** Called before anything is written, with a warning such as the loss of comments. */
  onWarning?(message: string): void;
}

/** Result of a write, or of its trial. */
export interface ConfigWriteOutcome {
  /** False: nothing differed, no byte was touched. */
  changed: boolean;
  /** Absolute path of the file that was (or would be) written. */
  file: string;
  before: ReadConfig;
  after: ReadConfig;
  /** Effective paths that differ, sorted. */
  changedPaths: string[];
  warnings: string[];
}

/** Plan or result of a restore. Texts hold secrets: show them redacted. */
export interface Restore {
  /** As it stands on disk, whether it parses or not. */
  broken: string;
  lastGood: string;
  /** Path of the copy of the broken file. */
  rejected?: string;
}
