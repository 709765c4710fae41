import type { Env } from "../../sdk/types/common.ts";

/** Effective `secrets.providers.<alias>`. */
export type SecretProvider = EnvProvider | FileProvider | ExecProvider;

export interface EnvProvider {
  source: "env";
  /** Names that may be read; absent = all, empty = none. */
  allowlist?: string[] | undefined;
}

export interface FileProvider {
  source: "file";
  path: string;
  mode: "json" | "singleValue";
  timeoutMs: number;
  maxBytes: number;
}

export interface ExecProvider {
  source: "exec";
  /** Absolute path of the executable. */
  command: string;
  args: string[];
  /** Variables of the gateway it gets; it gets no others but `env`. */
  passEnv: string[];
  env: Record<string, string>;
  timeoutMs: number;
  maxOutputBytes: number;
  /** False: for a single id, output that is not JSON is the value itself. */
  jsonOnly: boolean;
  /** The executable must really lie in one of these folders; absent = anywhere. */
  trustedDirs?: string[] | undefined;
}

/** Result of resolving one id. A reason holds no value and no exec id. */
export type SecretAnswer = { value: string } | { reason: string };

/** Request to a provider. */
export interface SecretQuestion {
  alias: string;
  ids: readonly string[];
  env: Env;
  /** Relative paths of file providers start here. */
  configDir: string;
  signal?: AbortSignal | undefined;
}

/** The same answer for every id. */
export function answerAll(ids: readonly string[], reason: string): Map<string, SecretAnswer> {
  return new Map(ids.map((id) => [id, { reason }]));
}

/** A found value as an answer: only a text that is not empty is one. */
export function answerOf(value: unknown): SecretAnswer {
  if (typeof value !== "string") return { reason: value === undefined ? "has no such value" : "the value is not a text" };
  return value === "" ? { reason: "the value is empty" } : { value };
}
