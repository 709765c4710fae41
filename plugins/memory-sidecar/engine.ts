import type { Env } from "svc/sdk";
import type { Collection } from "./collections.ts";
import { EngineFault } from "./engine-fault.ts";
import { type EngineOutput, probeProgram, runEngine } from "./engine-process.ts";
import { type EngineHit, parseCollection, parseCollectionNames, parseHits, parseStatus, sameFolderName } from "./parse.ts";
import type { SearchMode, SidecarSettings } from "./settings.ts";

/** The commands of the engine for one agent. Every method throws {@link EngineFault}, or the reason of the signal. */
export interface Engine {
  /** Finds out whether the program can be started. */
  probe(): Promise<void>;
  collectionNames(): Promise<string[]>;
  collection(name: string): Promise<{ root: string; pattern: string } | undefined>;
  addCollection(collection: Pick<Collection, "name" | "root" | "pattern">): Promise<void>;
  removeCollection(name: string): Promise<void>;
  update(): Promise<void>;
  /** @param force rebuilds all vectors */
  embed(force: boolean, signal: AbortSignal): Promise<void>;
  search(request: EngineSearch): Promise<EngineHit[]>;
  status(): Promise<{ files: number | undefined; vectors: number | undefined; pending: number | undefined }>;
}

export interface EngineSearch {
  mode: SearchMode;
  query: string;
  limit: number;
  collections: readonly string[];
  timeoutMs: number;
  signal: AbortSignal;
}

type EngineSettings = Pick<SidecarSettings, "command" | "workspace"> & {
  update: Pick<SidecarSettings["update"], "commandTimeoutMs" | "updateTimeoutMs" | "embedTimeoutMs">;
};

const PROBE_MS = 2_000;

/** @param env all variables of its commands @param signal ends every command */
export function createEngine(settings: EngineSettings, env: Env, signal: AbortSignal): Engine {
  return new CommandEngine(settings, env, signal);
}

class CommandEngine implements Engine {
  readonly #settings: EngineSettings;
  readonly #env: Env;
  readonly #signal: AbortSignal;
  /** False once several collections in one search were refused. */
  #takesSeveral = true;

  constructor(settings: EngineSettings, env: Env, signal: AbortSignal) {
    this.#settings = settings;
    this.#env = env;
    this.#signal = signal;
  }

  async probe(): Promise<void> {
    this.#signal.throwIfAborted();
    await probeProgram({ program: this.#settings.command, env: this.#env, cwd: this.#settings.workspace, timeoutMs: PROBE_MS });
  }

  async collectionNames(): Promise<string[]> {
    return parseCollectionNames((await this.#run(["collection", "list"])).stdout);
  }

  async collection(name: string): Promise<{ root: string; pattern: string } | undefined> {
    return parseCollection((await this.#run(["collection", "show", name])).stdout);
  }

  /** The name of the flag for patterns differs between releases, and an unknown one is ignored: what came of it is looked at. */
  async addCollection({ name, root, pattern }: Pick<Collection, "name" | "root" | "pattern">): Promise<void> {
    await this.#add(["collection", "add", root, "--name", name, "--mask", pattern]);
    const made = await this.collection(name);
    if (made === undefined || made.pattern === pattern) return;
    await this.removeCollection(name);
    await this.#add(["collection", "add", root, "--name", name, "--glob", pattern]);
  }

  async removeCollection(name: string): Promise<void> {
    const { code, stdout, stderr } = await this.#try(["collection", "remove", name]);
    if (code !== 0 && !/collection not found/i.test(stdout + stderr)) throw failed("collection remove", { code, stdout, stderr });
  }

  async update(): Promise<void> {
    await this.#run(["update"], { timeoutMs: this.#settings.update.updateTimeoutMs, discardOutput: true });
  }

  async embed(force: boolean, signal: AbortSignal): Promise<void> {
    await this.#run(force ? ["embed", "-f"] : ["embed"], { timeoutMs: this.#settings.update.embedTimeoutMs, discardOutput: true, signal });
  }

  async search(request: EngineSearch): Promise<EngineHit[]> {
    if (!this.#takesSeveral || request.collections.length < 2) return this.#searchEach(request);
    try {
      return await this.#search(request, request.collections);
    } catch (error) {
      if (!isRefusalOfSeveral(error)) throw error;
      this.#takesSeveral = false;
      return this.#searchEach(request);
    }
  }

  async status(): ReturnType<Engine["status"]> {
    return parseStatus((await this.#run(["status"])).stdout);
  }

  async #search({ mode, query, limit, timeoutMs, signal }: EngineSearch, collections: readonly string[]): Promise<EngineHit[]> {
    const named = collections.flatMap((name) => ["-c", name]);
    const args = [mode, queryArgument(query, mode), "--json", "-n", String(limit), ...named];
    const output = await this.#run(args, { timeoutMs, signal });
    const hits = parseHits(output.stdout);
    if (!hits) throw new EngineFault("garbled", `${mode}: the output is no JSON array of hits`);
    return hits;
  }

  /** For releases that take one collection: the best hit of each document counts. */
  async #searchEach(request: EngineSearch): Promise<EngineHit[]> {
    const best = new Map<string, EngineHit>();
    const until = performance.now() + request.timeoutMs;
    for (const name of request.collections) {
      const timeoutMs = Math.max(1, Math.round(until - performance.now()));
      for (const hit of await this.#search({ ...request, timeoutMs }, [name])) {
        const key = hit.file ?? hit.docid ?? "";
        if ((best.get(key)?.score ?? -1) < hit.score) best.set(key, hit);
      }
    }
    return [...best.values()].sort((a, b) => b.score - a.score);
  }

  async #add(args: readonly string[]): Promise<void> {
    const output = await this.#try(args);
    if (output.code !== 0) throw failed("collection add", output);
  }

  async #run(args: readonly string[], options: RunOptions = {}): Promise<EngineOutput> {
    const output = await this.#try(args, options);
    if (output.code !== 0) throw failed(args[0] === "collection" ? args.slice(0, 2).join(" ") : (args[0] as string), output);
    return output;
  }

  #try(args: readonly string[], { timeoutMs, discardOutput = false, signal }: RunOptions = {}): Promise<EngineOutput> {
    const { command, workspace, update } = this.#settings;
    return runEngine({
      program: command,
      args,
      env: this.#env,
      cwd: workspace,
      timeoutMs: timeoutMs ?? update.commandTimeoutMs,
      discardOutput,
      signal: signal ? AbortSignal.any([this.#signal, signal]) : this.#signal,
    });
  }
}

interface RunOptions {
  timeoutMs?: number;
  discardOutput?: boolean;
  signal?: AbortSignal;
}

/** A query as one argument: never taken for a flag, and in mode `query` never for several typed lines. */
export function queryArgument(query: string, mode: SearchMode): string {
  const text = query.replaceAll("\0", " ");
  const line = mode === "query" ? text.replace(/[\r\n]+/g, " ") : text;
  return line.startsWith("-") ? ` ${line}` : line;
}

const MAX_REASON_CHARS = 300;

function failed(what: string, { code, stdout, stderr }: EngineOutput): EngineFault {
  const said = `${stderr}\n${stdout}`;
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  // A crash of Node prints its error before the stack, and its version last.
  const telling = lines.find((line) => /^(?:\w+)?Error: \S/.test(line)) ?? lines.at(-1);
  const reason = telling === undefined ? "" : `: ${telling.trim().slice(0, MAX_REASON_CHARS)}`;
  return new EngineFault("failed", `${what} ended with code ${code}${reason}`, said.slice(0, 20_000));
}

function isRefusalOfSeveral(error: unknown): boolean {
  return (
    error instanceof EngineFault &&
    error.kind === "failed" &&
    /(?:only|one|single|multiple|several)[^\n]{0,80}collection/i.test(error.output)
  );
}

/** Name of the managed collection that stands in the way of another one with the same folder and pattern. */
export function blockingCollection(error: unknown): string | undefined {
  return error instanceof EngineFault ? sameFolderName(error.output) : undefined;
}

export function isMissingCollection(error: unknown): boolean {
  return error instanceof EngineFault && /collection not found|no such collection/i.test(error.output);
}

/** Faults of its index that end when the collections are recreated. */
export function isRepairableIndex(error: unknown): boolean {
  if (!(error instanceof EngineFault)) return false;
  return /UNIQUE constraint failed: documents\.collection, documents\.path|null bytes?|\\u0000/i.test(error.output);
}

/** Another process holds the index, or it was just slow. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof EngineFault)) return false;
  return error.kind === "timed-out" || /\b(?:busy|locked)\b/i.test(error.output);
}
