import { type Clock, type Logger, messageOf, type Store, type StoreOp } from "svc/sdk";
import { isStatelessKey } from "../sessions/stateless-key.ts";
import type { MadeTrace } from "./make-trace.ts";
import type { StoredBlock, StoredTrace } from "./stored-trace.ts";

/** Scopes of the rows: traces and their descriptions by run, blocks by the hash of their text. */
const TRACES = "run-trace";
const INDEX = "run-trace-index";
const BLOCKS = "run-trace-block";

/**
 * Limits of what is kept: runs, requests of programs without a session of their own among them, age, and characters of traces and blocks together.
 */
export const traceLimits = { runs: 500, singles: 4, ageMs: 30 * 86_400_000, chars: 32 * 1024 * 1024 };
/** Runs that go with the end of one run. */
const GOING_AT_ONCE = 8;
const DELETED_AT_ONCE = 500;

/** Description of a trace: small, so that all of them are in memory. */
interface Entry {
  runId: string;
  sessionId: string;
  at: number;
  chars: number;
  blocks: ReadonlyArray<readonly [name: string, chars: number]>;
  /** Of a request without a session of its own. */
  isSingle?: true;
}

interface Deps {
  store(): Pick<Store, "commit" | "kv" | "messages">;
  clock: Pick<Clock, "now">;
  logger: Pick<Logger, "warn">;
  limits?: typeof traceLimits;
}

/** Operations for a commit, and how it went. */
export interface Ticket {
  ops: StoreOp[];
  stored(): void;
  lost(): void;
}

/**
 * Traces of the newest runs, as rows of the store. Each is written in the commit that ends its run, and those that there is no room for any more go in the same
 * commit. The index is in memory, so nothing is read for it; blocks go with the last trace that names them.
 */
export class TraceLog {
  readonly #deps: Deps;
  readonly #entries = new Map<string, Entry>();
  /** Blocks that are stored, with the number of traces that name them. */
  readonly #blocks = new Map<string, { uses: number; chars: number; isStored: boolean }>();
  /** Runs without a session of their own, the oldest first. */
  readonly #singles = new Set<string>();
  #chars = 0;
  #loading: Promise<void> | undefined;
  /** Number of times that all that was known had to be read again. */
  #readings = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  isKnown(block: string): boolean {
    return this.#blocks.get(block)?.isStored === true;
  }

  /** Resolves when the traces of earlier processes are known; does not reject. */
  loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      this.#deps.logger.warn("the list of traces could not be read; old ones stay until it can", { error: messageOf(error) });
    });
    return this.#loading;
  }

  /** Stores a trace with the operations of the ticket. @returns undefined when a block that it names was deleted meanwhile and has to be made again */
  ticket({ trace, blocks, names }: MadeTrace): Ticket | undefined {
    if (names.some((name) => !blocks.has(name) && !this.isKnown(name))) return undefined;
    void this.loaded();
    const { runId, sessionId } = trace;
    const single = isStatelessKey(trace.sessionKey) ? { isSingle: true as const } : {};
    const sizes = names.map((name) => [name, blocks.get(name)?.text.length ?? this.#blocks.get(name)?.chars ?? 0] as const);
    const entry: Entry = { runId, sessionId, at: trace.endedAt, chars: JSON.stringify(trace).length, blocks: sizes, ...single };
    const readings = this.#readings;
    const before = this.#entries.get(runId);
    this.#entries.delete(runId);
    this.#add(entry);
    const ops: StoreOp[] = [
      ...(before ? this.#release(before) : []),
      ...this.#surplus(),
      ...[...blocks].map(([key, value]) => ({ op: "kv.put" as const, scope: BLOCKS, key, value })),
      { op: "kv.put", scope: TRACES, key: runId, value: trace },
      { op: "kv.put", scope: INDEX, key: runId, value: entry },
    ];
    return {
      ops,
      stored: () => {
        // The rows were read meanwhile, and this one may not have been among them yet.
        if (this.#readings !== readings && !this.#entries.has(runId)) this.#add(entry);
        for (const name of names) {
          const block = this.#blocks.get(name);
          if (block) block.isStored = true;
        }
      },
      // Nobody knows what is stored: it is read again.
      lost: () => {
        this.#readings += 1;
        this.#forget();
        this.#loading = undefined;
      },
    };
  }

  async read(runId: string): Promise<StoredTrace | undefined> {
    const value = (await this.#deps.store().kv.get(TRACES, runId)) as StoredTrace | undefined;
    return value?.v === 1 ? value : undefined;
  }

  async block(name: string): Promise<StoredBlock | undefined> {
    return (await this.#deps.store().kv.get(BLOCKS, name)) as StoredBlock | undefined;
  }

  /** Deletes the traces of a transcript, or of one run, in a commit that deletes these. */
  async dropOps(what: { sessionId: string } | { runId: string }): Promise<StoreOp[]> {
    await this.loaded();
    if ("runId" in what) return this.#remove(what.runId);
    return [...this.#entries.values()].filter(({ sessionId }) => sessionId === what.sessionId).flatMap(({ runId }) => this.#remove(runId));
  }

  /** Deletes what is too old, and what belongs to transcripts that are gone. */
  async maintain(signal: AbortSignal): Promise<void> {
    await this.loaded();
    const oldest = this.#deps.clock.now() - this.#limits.ageMs;
    const isGone = new Map<string, boolean>();
    for (const { sessionId } of this.#entries.values()) {
      if (isGone.has(sessionId)) continue;
      signal.throwIfAborted();
      isGone.set(sessionId, (await this.#deps.store().messages.scan(sessionId, 0, 1)).length === 0);
    }
    const going = [...this.#entries.values()].filter(({ at, sessionId }) => at < oldest || isGone.get(sessionId) === true);
    await this.#commit(going.flatMap(({ runId }) => this.#remove(runId)));
  }

  get #limits(): typeof traceLimits {
    return this.#deps.limits ?? traceLimits;
  }

  #add(entry: Entry): void {
    this.#entries.set(entry.runId, entry);
    if (entry.isSingle) this.#singles.add(entry.runId);
    this.#chars += entry.chars;
    for (const [name, chars] of entry.blocks) {
      const known = this.#blocks.get(name);
      if (known) known.uses += 1;
      else {
        this.#blocks.set(name, { uses: 1, chars, isStored: false });
        this.#chars += chars;
      }
    }
  }

  #remove(runId: string): StoreOp[] {
    const entry = this.#entries.get(runId);
    this.#entries.delete(runId);
    this.#singles.delete(runId);
    return [drop(TRACES, runId), drop(INDEX, runId), ...(entry ? this.#release(entry) : [])];
  }

  /** @returns what deletes the blocks that nobody names any more */
  #release({ chars, blocks }: Entry): StoreOp[] {
    this.#chars -= chars;
    return blocks.flatMap(([name]) => {
      const block = this.#blocks.get(name);
      if (!block || --block.uses > 0) return [];
      this.#blocks.delete(name);
      this.#chars -= block.chars;
      return [drop(BLOCKS, name)];
    });
  }

  /** The oldest go, a few at a time; the newest stays whatever its size. */
  #surplus(): StoreOp[] {
    const { runs, chars, singles } = this.#limits;
    const ops: StoreOp[] = [];
    for (let left = GOING_AT_ONCE; left > 0 && this.#singles.size > singles; left--) {
      const [oldest] = this.#singles;
      if (oldest !== undefined) ops.push(...this.#remove(oldest));
    }
    for (let left = GOING_AT_ONCE; left > 0 && this.#entries.size > 1; left--) {
      if (this.#entries.size <= runs && this.#chars <= chars) break;
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) ops.push(...this.#remove(oldest));
    }
    return ops;
  }

  #forget(): void {
    this.#entries.clear();
    this.#singles.clear();
    this.#blocks.clear();
    this.#chars = 0;
  }

  async #load(): Promise<void> {
    const rows = await this.#deps.store().kv.list(INDEX, "");
    const stored = rows.map(({ value }) => value as Entry).sort((a, b) => a.at - b.at);
    const mine = [...this.#entries.values()];
    const known = new Set(mine.map(({ runId }) => runId));
    const kept = new Set([...this.#blocks].flatMap(([name, { isStored }]) => (isStored ? [name] : [])));
    this.#forget();
    for (const entry of stored) {
      if (known.has(entry.runId)) continue;
      this.#add(entry);
      for (const [name] of entry.blocks) kept.add(name);
    }
    for (const entry of mine) this.#add(entry);
    for (const [name, block] of this.#blocks) block.isStored = kept.has(name);
    for (let ops = this.#surplus(); ops.length > 0; ops = this.#surplus()) await this.#commit(ops);
  }

  async #commit(ops: readonly StoreOp[]): Promise<void> {
    for (let at = 0; at < ops.length; at += DELETED_AT_ONCE) await this.#deps.store().commit(ops.slice(at, at + DELETED_AT_ONCE));
  }
}

function drop(scope: string, key: string): StoreOp {
  return { op: "kv.delete", scope, key };
}
