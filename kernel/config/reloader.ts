import type { SvcConfig } from "../../sdk/config/root.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { withLimit } from "../../sdk/time.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { ReloadOutcome } from "../../sdk/types/reload.ts";
import type { Job } from "../operations/jobs.ts";
import { MAX_CONFIG_BYTES } from "./config-file.ts";
import type { LoadedConfig } from "./loaded.ts";
import { namePaths, type PassDeps, type ReloadIssue, runReloadPass } from "./reload-pass.ts";
import type { FileWatch } from "./watch-files.ts";

const END_LIMIT_MS = 5_000;

export type ReloadReason = "watch" | "rpc" | "signal" | "secrets";

/** `health.configReload`. `since` in epoch ms. */
export interface ReloadStatus {
  /** `off`: files are not watched; `invalid`, `rejected`: the file differs from what runs, for these reasons. */
  status: "active" | "off" | "invalid" | "rejected";
  issues: ReloadIssue[];
  since: number;
  /** Changed paths whose old value stays in force until a restart. */
  pendingRestart: string[];
  /** Parts that could not be applied by the last reload. */
  failed?: ReloadIssue[];
}

/** A config that is valid. */
export type ActiveConfig = LoadedConfig & { config: SvcConfig };

export interface ReloaderOptions {
  initial: ActiveConfig;
  /** Reads the files again. `secretsOnly`: keeps the active files and asks for their secrets anew. */
  load(active: LoadedConfig, options: { secretsOnly: boolean }): Promise<LoadedConfig>;
  pass: Omit<PassDeps, "swap" | "logger">;
  /** Starts to use the changes of the snapshot; called within the swap. */
  onSwap(loaded: ActiveConfig): void;
  /** A pass has ended; `isForeign` when somebody else than the gateway changed the files. */
  onSettled(outcome: ReloadOutcome, isForeign: boolean): void;
  /** Undefined takes an earlier request back. */
  requestRestart(reason: string | undefined): void;
  watch(onChange: () => void): FileWatch;
  logger: Logger;
  now(): number;
}

/** Keeps the active config snapshot and brings changes of its files into it. */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #watch: FileWatch;
  #active: ActiveConfig;
  /** Config that was read last, valid or not: equal bytes are not a change. */
  #seen: LoadedConfig;
  #pendingRestart: string[] = [];
  #problem: { status: "invalid" | "rejected"; issues: ReloadIssue[] } | undefined;
  #failed: ReloadIssue[] = [];
  #since: number;
  #running: Promise<ReloadOutcome> | undefined;
  #queued: { reasons: Set<ReloadReason>; outcome: Promise<ReloadOutcome> } | undefined;
  #state: "idle" | "following" | "disposed" = "idle";

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#active = options.initial;
    this.#seen = options.initial;
    this.#since = options.now();
    this.#watch = options.watch(
      () => void this.reload("watch").catch((error) => options.logger.error("a config reload failed", { error })),
    );
  }

  /** The active config. */
  current(): ActiveConfig {
    return this.#active;
  }

  /** Paths whose changed value waits for a restart. */
  pendingRestart(): string[] {
    return this.#pendingRestart;
  }

  status(): ReloadStatus {
    return {
      status: this.#problem?.status ?? (this.#active.config.gateway.reload.mode === "off" ? "off" : "active"),
      issues: this.#problem?.issues ?? [],
      since: this.#since,
      pendingRestart: this.#pendingRestart,
      ...(this.#failed.length > 0 ? { failed: this.#failed } : {}),
    };
  }

  /** Periodic job that looks for changes the watcher missed. */
  get poll(): Job {
    return this.#watch;
  }

  /** Begins to follow the files. */
  start(): void {
    this.#state = "following";
    this.#follow();
  }

  /** Puts the active files in place with the rest of their secrets: a start asks for those after it listens, before anybody uses them. */
  adopt(completed: ActiveConfig): void {
    this.#active = completed;
    this.#seen = completed;
    this.#options.onSwap(completed);
  }

  /** Passes are serial; what is asked for during one shares exactly one further pass. Never rejects for what is in a file or a plugin. */
  reload(reason: ReloadReason): Promise<ReloadOutcome> {
    if (this.#queued) {
      this.#queued.reasons.add(reason);
      return this.#queued.outcome;
    }
    const reasons = new Set([reason]);
    if (!this.#running) return this.#begin(reasons);
    const outcome = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#queued = undefined;
        return this.#begin(reasons);
      });
    this.#queued = { reasons, outcome };
    return outcome;
  }

  /** Follows and takes nothing any more; resolves when the pass in progress has ended, after 5 s at most. */
  async dispose(): Promise<void> {
    this.#state = "disposed";
    this.#watch.dispose();
    await withLimit(Promise.allSettled([this.#running]), END_LIMIT_MS, () => undefined);
  }

  #begin(reasons: ReadonlySet<ReloadReason>): Promise<ReloadOutcome> {
    this.#running = this.#pass(reasons).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #pass(reasons: ReadonlySet<ReloadReason>): Promise<ReloadOutcome> {
    const { load, pass, logger, onSwap, onSettled } = this.#options;
    const isAutomatic = reasons.size === 1 && reasons.has("watch");
    if (this.#state === "disposed" || (isAutomatic && (await isKnown(this.#seen))))
      return { status: "unchanged", action: "none", changedPaths: [], pendingRestart: this.#pendingRestart, issues: [] };
    const secretsOnly = reasons.size === 1 && reasons.has("secrets");
    const loaded = await load(this.#active, { secretsOnly });
    if (!secretsOnly) this.#seen = loaded;
    const swap = (swapped: LoadedConfig) => {
      this.#active = swapped as ActiveConfig;
      onSwap(this.#active);
    };
    const options = { explicit: !isAutomatic, secretsOnly, deps: { ...pass, logger, swap } };
    const { outcome, failed } = await runReloadPass(this.#active, loaded, options);
    // New secrets say nothing about the files, which may still be refused or wait for a restart.
    if (secretsOnly) this.#failed = failed;
    else this.#settle(outcome, failed);
    this.#follow();
    onSettled(outcome, isAutomatic);
    return outcome;
  }

  #settle(outcome: ReloadOutcome, failed: ReloadIssue[]): void {
    const { status, issues, pendingRestart } = outcome;
    const problem = status === "invalid" || status === "rejected" ? { status, issues } : undefined;
    if (problem?.status !== this.#problem?.status) this.#since = this.#options.now();
    this.#problem = problem;
    if (problem) return;
    this.#failed = failed;
    this.#pendingRestart = pendingRestart;
    const reason = `config change requires gateway restart (${namePaths(pendingRestart)})`;
    this.#options.requestRestart(status === "restart" ? reason : undefined);
  }

  #follow(): void {
    const isOff = this.#active.config.gateway.reload.mode === "off";
    this.#watch.setFiles(this.#state !== "following" || isOff ? [] : [...new Set([...this.#active.watched, ...this.#seen.watched])]);
  }
}

/** Does every file still hold what was read? Cheaper than a whole reload, which may run programs for secrets. */
async function isKnown(seen: LoadedConfig): Promise<boolean> {
  if (!seen.valid) return false; // what it missed may have come
  const known = new Map(seen.files.map((file) => [file.path, file.text]));
  const paths = new Set([seen.path, ...known.keys()]);
  const same = await Promise.all(
    [...paths].map(async (path) => {
      const text = await readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES }).then(String, () => undefined);
      return text?.replace(/^\uFEFF/, "") === known.get(path);
    }),
  );
  return same.every(Boolean);
}
