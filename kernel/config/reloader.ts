import type { SvcConfig } from "../../sdk/config/root.ts";
import { readRegularFile } from "../../sdk/host/read-regular.ts";
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

export interface Reloader {
  /** The active config. */
  current(): LoadedConfig & { config: SvcConfig };
  /** Passes are serial; what is asked for during one shares exactly one further pass. Never rejects for what is in a file or a plugin. */
  reload(reason: ReloadReason): Promise<ReloadOutcome>;
  /** Puts the active files in place with the rest of their secrets: a start asks for those after it listens, before anybody uses them. */
  adopt(completed: LoadedConfig & { config: SvcConfig }): void;
  pendingRestart(): string[];
  status(): ReloadStatus;
  /** Begins to follow the files. */
  start(): void;
  /** Its second source of changes, as a periodic job. */
  readonly poll: Job;
  /** Follows and takes nothing any more; resolves when the pass under way has ended, after 5 s at most. */
  dispose(): Promise<void>;
}

export interface ReloaderOptions {
  initial: LoadedConfig & { config: SvcConfig };
  /** Reads the files again. `secretsOnly`: keeps the active files and asks for their secrets anew. */
  load(active: LoadedConfig, options: { secretsOnly: boolean }): Promise<LoadedConfig>;
  pass: Omit<PassDeps, "swap" | "logger">;
  /** Starts to use the changes of the snapshot; called within the swap. */
  onSwap(loaded: LoadedConfig & { config: SvcConfig }): void;
  /** A pass has ended; `isForeign` when somebody else than the gateway changed the files. */
  onSettled(outcome: ReloadOutcome, isForeign: boolean): void;
  /** Undefined takes an earlier request back. */
  requestRestart(reason: string | undefined): void;
  watch(onChange: () => void): FileWatch;
  logger: Logger;
  now(): number;
}

/** Keeps the active config snapshot and brings changes of its files into it. */
export function createReloader(options: ReloaderOptions): Reloader {
  const { logger, now } = options;
  let active = options.initial;
  /** Config that was read last, valid or not: equal bytes are not a change. */
  let seen: LoadedConfig = active;
  let pendingRestart: string[] = [];
  let problem: { status: "invalid" | "rejected"; issues: ReloadIssue[] } | undefined;
  let failed: ReloadIssue[] = [];
  let since = now();
  let running: Promise<ReloadOutcome> | undefined;
  let queued: { reasons: Set<ReloadReason>; outcome: Promise<ReloadOutcome> } | undefined;
  let isStarted = false;
  let isDisposed = false;
  const unchanged = (): ReloadOutcome => ({ status: "unchanged", action: "none", changedPaths: [], pendingRestart, issues: [] });

  const watching = options.watch(() => void reloader.reload("watch").catch((error) => logger.error("a config reload failed", { error })));
  const follow = () => {
    const isOff = active.config.gateway.reload.mode === "off";
    watching.setFiles(!isStarted || isDisposed || isOff ? [] : [...new Set([...active.watched, ...seen.watched])]);
  };

  const settle = (outcome: ReloadOutcome, failures: ReloadIssue[]) => {
    const isRefused = outcome.status === "invalid" || outcome.status === "rejected";
    const next = isRefused ? { status: outcome.status as "invalid" | "rejected", issues: outcome.issues } : undefined;
    if (next?.status !== problem?.status) since = now();
    problem = next;
    if (isRefused) return;
    failed = failures;
    pendingRestart = outcome.pendingRestart;
    const reason = `config change requires gateway restart (${namePaths(pendingRestart)})`;
    options.requestRestart(outcome.status === "restart" ? reason : undefined);
  };

  const pass = async (reasons: ReadonlySet<ReloadReason>): Promise<ReloadOutcome> => {
    const isAutomatic = reasons.size === 1 && reasons.has("watch");
    if (isDisposed || (isAutomatic && (await isKnown(seen)))) return unchanged();
    const secretsOnly = reasons.size === 1 && reasons.has("secrets");
    const loaded = await options.load(active, { secretsOnly });
    if (!secretsOnly) seen = loaded;
    const deps = {
      ...options.pass,
      logger,
      swap(swapped: LoadedConfig) {
        active = swapped as typeof active;
        options.onSwap(active);
      },
    };
    const { outcome, failed: failures } = await runReloadPass(active, loaded, { explicit: !isAutomatic, secretsOnly, deps });
    // New secrets say nothing about the files, which may still be refused or wait for a restart.
    if (secretsOnly) failed = failures;
    else settle(outcome, failures);
    follow();
    options.onSettled(outcome, isAutomatic);
    return outcome;
  };

  const reloader: Reloader = {
    current: () => active,
    pendingRestart: () => pendingRestart,
    adopt(completed) {
      active = completed;
      seen = completed;
      options.onSwap(completed);
    },
    reload(reason) {
      if (queued) {
        queued.reasons.add(reason);
        return queued.outcome;
      }
      if (!running) {
        running = pass(new Set([reason])).finally(() => {
          running = undefined;
        });
        return running;
      }
      const reasons = new Set([reason]);
      const outcome = running
        .catch(() => undefined)
        .then(() => {
          queued = undefined;
          running = pass(reasons).finally(() => {
            running = undefined;
          });
          return running;
        });
      queued = { reasons, outcome };
      return outcome;
    },
    status: () => ({
      status: problem?.status ?? (active.config.gateway.reload.mode === "off" ? "off" : "active"),
      issues: problem?.issues ?? [],
      since,
      pendingRestart,
      ...(failed.length > 0 ? { failed } : {}),
    }),
    poll: watching,
    start() {
      isStarted = true;
      follow();
    },
    async dispose() {
      isDisposed = true;
      watching.dispose();
      await withLimit(Promise.allSettled([running]), END_LIMIT_MS, () => undefined);
    },
  };
  return reloader;
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
