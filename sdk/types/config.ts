import type { SvcConfigInput } from "../config/root.ts";

/** Members of a list that shall go: those in which every field of `where` has this value. */
export interface MemberRemoval {
  /** Path of the list, as `agents.list`. */
  list: string;
  where: Readonly<Record<string, string | number | boolean>>;
}

/** Answer of every config writer. */
export interface ConfigWriteResult {
  ok: true;
  /** Absolute path of the file that was written. */
  path: string;
  /** SHA-256 of the new file bytes and included files in order. */
  hash: string;
  /** Effective config, redacted. */
  config: unknown;
  changedPaths: string[];
  action: "none" | "hot" | "restart" | "persisted";
  pendingRestart: string[];
  /** Nothing differed; not a byte was touched. */
  noop?: true;
}

/** Service `config@1`: the one write pipeline, for plugins with the permission `rpc.admin`. */
export interface ConfigService {
  /**
   * Merges a patch into the authored file (`null` deletes, arrays of `{id}` merge by id), takes the members named in `remove` out of their lists,
   * and waits until the gateway has applied it.
   * @throws {SvcError} `config-conflict` when `baseHash` is stale, `config-rejected` when the result would not validate, `config-readonly`
   */
  patch(
    patch: SvcConfigInput,
    options: { note: string; baseHash?: string; replacePaths?: string[]; remove?: readonly MemberRemoval[] },
  ): Promise<ConfigWriteResult>;
}
