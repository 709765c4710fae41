import { type Logger, messageOf, type PluginKv } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { inspectPlace, type PlaceState } from "./inspect.ts";
import { shortHash } from "./recall-entry.ts";
import { type DreamPlace, type SweepDeps, type SweepResult, sweep } from "./sweep.ts";

/** Means of the sweeps of one gateway. */
export interface DreamerDeps {
  places(): readonly DreamPlace[];
  sweep(): Omit<SweepDeps, "signal">;
  signal: AbortSignal;
  logger: Pick<Logger, "info" | "warn" | "debug">;
  kv: PluginKv;
  /** Brings the indexes of agents up to date, so that the next search finds what was promoted. */
  sync(agentId: string): Promise<unknown>;
}

/** End of the sweep of one workspace. */
export type PlaceResult = { workspace: string; agentIds: string[] } & ({ result: SweepResult } | { error: string });

/** Sweeps the workspaces of a gateway, one after the other; a workspace is swept by one at a time. */
export class Dreamer {
  readonly #deps: DreamerDeps;
  readonly #running = new Map<string, Promise<SweepResult>>();

  constructor(deps: DreamerDeps) {
    this.#deps = deps;
  }

  /** Sweeps every workspace; one that fails does not stop the others. @returns a line for the log of runs @throws {Error} when none succeeded */
  async sweepAll(signal: AbortSignal): Promise<string> {
    const all = await this.run(this.#deps.places(), signal);
    const failed = all.filter((one) => "error" in one);
    const promoted = all.reduce((sum, one) => sum + ("result" in one ? one.result.promoted.length : 0), 0);
    const errors = failed.map((one) => `${one.workspace}: ${"error" in one ? one.error : ""}`).join("; ");
    if (failed.length > 0 && failed.length === all.length) throw new Error(errors);
    const swept = all.length - failed.length;
    return `${swept} ${swept === 1 ? "workspace" : "workspaces"} swept, ${promoted} promoted${failed.length > 0 ? `; failed: ${errors}` : ""}`;
  }

  /** Sweeps these workspaces. @throws the reason of the signal */
  async run(places: readonly DreamPlace[], signal: AbortSignal): Promise<PlaceResult[]> {
    const done: PlaceResult[] = [];
    for (const place of places) {
      const { workspace, agentIds } = place;
      await reached("dreaming.before-workspace");
      try {
        done.push({ workspace, agentIds: [...agentIds], result: await this.#sweep(place, signal) });
        await this.#remember(workspace, undefined);
      } catch (error) {
        signal.throwIfAborted();
        const message = messageOf(error);
        this.#deps.logger.warn("dreaming: a workspace could not be swept; the others go on", { workspace, error: message });
        done.push({ workspace, agentIds: [...agentIds], error: message });
        await this.#remember(workspace, message);
      }
    }
    return done;
  }

  /** State of the workspaces. */
  async inspect(places: readonly DreamPlace[]): Promise<Array<PlaceState & { running: boolean }>> {
    const states: Array<PlaceState & { running: boolean }> = [];
    for (const place of places) {
      const state = await inspectPlace(place, Date.now());
      const failure = state.problem ?? (await this.#failureOf(place.workspace));
      states.push({ ...state, running: this.#running.has(place.workspace), ...(failure === undefined ? {} : { problem: failure }) });
    }
    return states;
  }

  /** Joins a sweep of the same workspace that is under way. */
  #sweep(place: DreamPlace, signal: AbortSignal): Promise<SweepResult> {
    const running = this.#running.get(place.workspace);
    if (running) return running;
    const work = this.#sweepNow(place, signal).finally(() => this.#running.delete(place.workspace));
    this.#running.set(place.workspace, work);
    return work;
  }

  async #sweepNow(place: DreamPlace, signal: AbortSignal): Promise<SweepResult> {
    const { logger, sync } = this.#deps;
    const result = await sweep(place, { ...this.#deps.sweep(), signal: AbortSignal.any([signal, this.#deps.signal]) });
    const { staged, promoted, diary, ms } = result;
    logger.info("dreaming: a workspace was swept", { workspace: place.workspace, staged, promoted: promoted.length, diary, ms });
    if (promoted.length > 0)
      for (const agentId of place.agentIds)
        await sync(agentId).catch((error: unknown) =>
          logger.debug("dreaming: the index is brought up to date later", { agentId, error: messageOf(error) }),
        );
    return result;
  }

  async #remember(workspace: string, error: string | undefined): Promise<void> {
    const key = failureKey(workspace);
    const work =
      error === undefined ? this.#deps.kv.delete(key) : this.#deps.kv.set(key, { workspace, at: Date.now(), error: error.slice(0, 2_000) });
    await work.catch((fault: unknown) =>
      this.#deps.logger.debug("dreaming: the end of a sweep was not stored", { error: messageOf(fault) }),
    );
  }

  /** Reason why the last sweep failed, also after a restart. */
  async #failureOf(workspace: string): Promise<string | undefined> {
    const row = await this.#deps.kv.get<{ error?: unknown }>(failureKey(workspace)).catch(() => undefined);
    return typeof row?.error === "string" ? `the last sweep failed: ${row.error}` : undefined;
  }
}

function failureKey(workspace: string): string {
  return `dreaming/failure/${shortHash(workspace, 20)}`;
}
