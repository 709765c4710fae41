import { randomUUID } from "node:crypto";
import { type Agents, cutEnd, type Logger, messageOf, neutralize, type RunHandle, type Store, type ToolCall } from "svc/sdk";
import { sessionToolErrors } from "./errors.ts";
import { framed } from "./foreign.ts";
import type { Viewer } from "./visible.ts";

const SCOPE = "gateway/spawns";
/** Helpers at work at the same time. */
const MAX_AT_WORK = 4;
/** Helpers that work or wait for their turn: of all sessions, and of one of them, which must not take every place. */
const MAX_SPAWNS = 64;
const MAX_OF_SESSION = 16;
/** Results that wait for the end of the run whose call has brought them. */
const MAX_HANDED = 64;
const MAX_RESULT_CHARS = 8_000;
/** Tools that no helper has: it starts nobody, plans nothing and writes to nobody. */
export const DENIED = ["sessions_spawn", "sessions_send", "cron", "message", "gateway", "nodes"];

/** A task for a helper. Stored until its result was told, so that it survives the gateway. */
export interface Spawn {
  agentId: string;
  /** Run that asks; its session gets the result. */
  parent: Viewer;
  task: string;
  model?: string;
  timeoutMs: number;
  /** Tools that the run which asked is narrowed to. */
  tools?: ToolCall["tools"];
}

interface Stored extends Spawn {
  runId: string;
  sessionKey: string;
}

/** Call that waits for the result of a helper. */
export interface Waiting {
  /** Run that calls; undefined: the call is no part of a run. */
  runId: string | undefined;
  /** Whether the call has brought the result. Never rejects. */
  isTaken: Promise<boolean>;
}

interface Deps {
  store: Pick<Store, "kv" | "commit">;
  agents: Pick<Agents, "run" | "systemEvent">;
  logger: Logger;
  signal: AbortSignal;
}

/** Helpers of all sessions: four work, the others wait, and each result goes to the session that asked. */
export class Spawns {
  readonly #deps: Deps;
  /** Results that calls have brought, by the runs that called: they are in a transcript when the run has ended well. */
  readonly #handed = new Map<string, { runId: string; stored: Stored; result: string }>();
  readonly #waiting: Array<() => void> = [];
  #atWork = 0;
  #count = 0;
  /** Helpers that work or wait, by the session that asked. */
  readonly #bySession = new Map<string, number>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Resolves when the task is stored. `begun`: when its run has been accepted. @throws {SvcError} `spawn-refused` */
  async start(spawn: Spawn, waiting?: Waiting): Promise<{ sessionKey: string; begun: Promise<RunHandle | undefined> }> {
    if (this.#count >= MAX_SPAWNS)
      throw sessionToolErrors.spawnRefused({ reason: `${MAX_SPAWNS} helpers work or wait already; wait for their results` });
    if ((this.#bySession.get(spawn.parent.sessionKey) ?? 0) >= MAX_OF_SESSION)
      throw sessionToolErrors.spawnRefused({
        reason: `${MAX_OF_SESSION} helpers of this conversation work or wait already; wait for their results`,
      });
    const id = randomUUID();
    const stored: Stored = { ...spawn, runId: id, sessionKey: `agent:${spawn.agentId}:subagent:${id}` };
    await this.#deps.store.commit([{ op: "kv.put", scope: SCOPE, key: id, value: stored, ifAbsent: true }]);
    return { sessionKey: stored.sessionKey, begun: this.#carry(stored, waiting) };
  }

  /** Goes on with what an earlier run of the gateway left: runs that were cut off are continued, results that were not told are told. */
  async resume(): Promise<void> {
    const rows = await this.#deps.store.kv.list(SCOPE, "");
    for (const { value } of rows) void this.#carry(withOrigin(value as Stored));
  }

  /** Never rejects: whatever goes wrong is told to the session that asked. */
  #carry(stored: Stored, waiting?: Waiting): Promise<RunHandle | undefined> {
    const asker = stored.parent.sessionKey;
    this.#count += 1;
    this.#bySession.set(asker, (this.#bySession.get(asker) ?? 0) + 1);
    return new Promise((begun) => {
      const work = async () => {
        await this.#turn();
        try {
          const run = await this.#begin(stored);
          begun(run);
          const { status, text, error, code } = await run.done;
          if (code === "INTERRUPTED" && this.#deps.signal.aborted) return; // the next start goes on with it
          const result = status === "ok" ? text : `failed: ${error ?? code ?? "unknown reason"}`;
          if (waiting && (await waiting.isTaken)) await this.#hand(stored, { runId: waiting.runId, result });
          else await this.#tell(stored, result);
        } catch (error) {
          if (!this.#deps.signal.aborted) await this.#tell(stored, `could not be started: ${messageOf(error)}`);
        } finally {
          begun(undefined);
          this.#leave(asker);
        }
      };
      work().catch((error: unknown) => this.#deps.logger.error("the result of a helper was not told", { error: messageOf(error) }));
    });
  }

  #begin({ runId, agentId, sessionKey, parent, task, model, timeoutMs, tools }: Stored): Promise<RunHandle> {
    return this.#deps.agents.run({
      runId,
      resume: true,
      agentId,
      sessionKey,
      spawnedBy: parent.sessionKey,
      message: neutralize(task),
      trigger: "user",
      actor: { kind: "internal", scopes: [] },
      timeoutMs,
      origin: parent.origin,
      tools: withDenied(tools, DENIED),
      extraSystem: "You are a helper: you do one task for another session and answer with its result, once. Nobody can be asked.",
      ...(model === undefined ? {} : { model }),
    });
  }

  /** Results that the calls of a run have brought: told after all where the run failed, whose calls may be in no transcript. */
  async runEnded({ runId, status }: { runId: string; status: "ok" | "error" }): Promise<void> {
    const ended = [...this.#handed.values()].filter((handed) => handed.runId === runId);
    for (const { stored, result } of ended) {
      this.#handed.delete(stored.runId);
      await (status === "ok" ? this.#forget(stored) : this.#tell(stored, result)).catch((error: unknown) =>
        this.#deps.logger.error("the result of a helper was not told", { error: messageOf(error) }),
      );
    }
  }

  async #hand(stored: Stored, { runId, result }: { runId: string | undefined; result: string }): Promise<void> {
    if (runId === undefined) return this.#forget(stored);
    this.#handed.set(stored.runId, { runId, stored, result: cutEnd(result, MAX_RESULT_CHARS) });
    const [oldest] = this.#handed.values();
    if (this.#handed.size <= MAX_HANDED || !oldest) return;
    this.#handed.delete(oldest.stored.runId);
    await this.#forget(oldest.stored);
  }

  /** The row goes after the event is stored: a result may be told twice, never not at all. */
  async #tell({ runId, sessionKey, parent, task }: Stored, result: string): Promise<void> {
    const about = cutEnd(neutralize(task).replace(/\s+/g, " "), 100);
    const report = framed(cutEnd(neutralize(result), MAX_RESULT_CHARS), { source: "Helper", from: sessionKey });
    const text = `The helper ${sessionKey} ("${about}") reports:\n${report}`;
    const { agentId, sessionKey: asker, origin } = parent;
    // The heartbeat that reads it may do no more than the run that asked.
    const source = origin === "operator" ? "spawn" : `spawn:${origin}`;
    await this.#deps.agents.systemEvent({ agentId, sessionKey: asker, text, source, mode: "now", isOwn: true });
    await this.#forget({ runId });
  }

  async #forget({ runId }: Pick<Stored, "runId">): Promise<void> {
    await this.#deps.store.commit([{ op: "kv.delete", scope: SCOPE, key: runId }]);
  }

  async #turn(): Promise<void> {
    if (this.#atWork >= MAX_AT_WORK) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#atWork += 1;
  }

  #leave(asker: string): void {
    this.#count -= 1;
    const left = (this.#bySession.get(asker) ?? 1) - 1;
    if (left === 0) this.#bySession.delete(asker);
    else this.#bySession.set(asker, left);
    const next = this.#waiting.shift();
    if (next) next();
    else this.#atWork -= 1;
  }
}

/** A task as it is stored; one of an earlier version does not say who asked, and may have come from anybody. */
function withOrigin(stored: Stored): Stored {
  return { ...stored, parent: { ...stored.parent, origin: stored.parent.origin ?? "anybody" } };
}

/** Tools of a run that another one begins: what that one does not have, it does not get in this way either. */
export function withDenied(tools: ToolCall["tools"], denied: readonly string[]): NonNullable<ToolCall["tools"]> {
  return { ...tools, deny: [...new Set([...(tools?.deny ?? []), ...denied])] };
}
