import { randomUUID } from "node:crypto";
import { type Agents, cutEnd, type Logger, messageOf, neutralize, type RunHandle, type Store, type ToolCall } from "svc/sdk";
import { sessionToolErrors } from "./errors.ts";
import type { Viewer } from "./visible.ts";

const SCOPE = "gateway/spawns";
/** Helpers at work at the same time. */
const MAX_AT_WORK = 4;
/** Helpers that work or wait for their turn. */
const MAX_SPAWNS = 64;
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

interface Deps {
  store: Pick<Store, "kv" | "commit">;
  agents: Pick<Agents, "run" | "systemEvent">;
  logger: Logger;
  signal: AbortSignal;
}

/** Helpers of all sessions: four work, the others wait, and each result goes to the session that asked. */
export class Spawns {
  readonly #deps: Deps;
  readonly #waiting: Array<() => void> = [];
  #atWork = 0;
  #count = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Resolves when the task is stored. `begun`: when its run has been accepted. @throws {SvcError} `spawn-refused` */
  async start(spawn: Spawn): Promise<{ sessionKey: string; begun: Promise<RunHandle | undefined> }> {
    if (this.#count >= MAX_SPAWNS)
      throw sessionToolErrors.spawnRefused({ reason: `${MAX_SPAWNS} helpers work or wait already; wait for their results` });
    const id = randomUUID();
    const stored: Stored = { ...spawn, runId: id, sessionKey: `agent:${spawn.agentId}:subagent:${id}` };
    await this.#deps.store.commit([{ op: "kv.put", scope: SCOPE, key: id, value: stored, ifAbsent: true }]);
    return { sessionKey: stored.sessionKey, begun: this.#carry(stored) };
  }

  /** Goes on with what an earlier run of the gateway left: runs that were cut off are continued, results that were not told are told. */
  async resume(): Promise<void> {
    const rows = await this.#deps.store.kv.list(SCOPE, "");
    for (const { value } of rows) void this.#carry(value as Stored);
  }

  /** Never rejects: whatever goes wrong is told to the session that asked. */
  #carry(stored: Stored): Promise<RunHandle | undefined> {
    this.#count += 1;
    return new Promise((begun) => {
      const work = async () => {
        await this.#turn();
        try {
          const run = await this.#begin(stored);
          begun(run);
          const { status, text, error, code } = await run.done;
          if (code === "INTERRUPTED" && this.#deps.signal.aborted) return; // the next start goes on with it
          await this.#tell(stored, status === "ok" ? text : `failed: ${error ?? code ?? "unknown reason"}`);
        } catch (error) {
          if (!this.#deps.signal.aborted) await this.#tell(stored, `could not be started: ${messageOf(error)}`);
        } finally {
          begun(undefined);
          this.#leave();
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

  /** The row goes after the event is stored: a result may be told twice, never not at all. */
  async #tell({ runId, sessionKey, parent, task }: Stored, result: string): Promise<void> {
    const about = cutEnd(neutralize(task).replace(/\s+/g, " "), 100);
    const text = `The helper ${sessionKey} ("${about}") reports: ${cutEnd(neutralize(result), MAX_RESULT_CHARS)}`;
    const { agentId, sessionKey: asker } = parent;
    await this.#deps.agents.systemEvent({ agentId, sessionKey: asker, text, source: "spawn", mode: "now", isOwn: true });
    await this.#deps.store.commit([{ op: "kv.delete", scope: SCOPE, key: runId }]);
  }

  async #turn(): Promise<void> {
    if (this.#atWork >= MAX_AT_WORK) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#atWork += 1;
  }

  #leave(): void {
    this.#count -= 1;
    const next = this.#waiting.shift();
    if (next) next();
    else this.#atWork -= 1;
  }
}

/** Tools of a run that another one begins: what that one does not have, it does not get in this way either. */
export function withDenied(tools: ToolCall["tools"], denied: readonly string[]): NonNullable<ToolCall["tools"]> {
  return { ...tools, deny: [...new Set([...(tools?.deny ?? []), ...denied])] };
}
