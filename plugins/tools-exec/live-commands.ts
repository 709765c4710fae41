import type { Disposable, RunOrigin } from "svc/sdk";
import type { RunningCommand } from "./running-command.ts";

/** Background commands of all agents together. */
export const MAX_LIVE = 8;
/** Ended ones whose output can still be read. */
const MAX_ENDED = 16;

export interface LiveCommand {
  id: string;
  agentId: string;
  /** Session that started it, and who had a word there. */
  sessionKey: string;
  origin: RunOrigin;
  /** For people and models. */
  shown: string;
  startedAt: number;
  running: RunningCommand;
  /** Place up to which its agent has read. */
  seen: number;
}

/** Place that a tool is called from. */
type Viewer = Pick<LiveCommand, "agentId" | "sessionKey" | "origin">;

const strangers: readonly RunOrigin[] = ["operator", "person", "anybody"];

/**
 * Whether a run may look after a command of its agent: the operator's any, another one those of its session that runs with no fewer strangers started. A shell
 * that was allowed to somebody must not obey strangers.
 */
function isOwn(command: Viewer, { agentId, sessionKey, origin }: Viewer): boolean {
  if (command.agentId !== agentId) return false;
  return origin === "operator" || (command.sessionKey === sessionKey && strangers.indexOf(command.origin) >= strangers.indexOf(origin));
}

/** Commands that go on while their agent does something else. */
export class LiveCommands {
  readonly #commands = new Map<string, LiveCommand>();
  #lastId = 0;
  #reserved = 0;

  /** Keeps a place for a command that is about to start; whoever asks gives it back. Undefined: there is none. */
  reserve(): Disposable | undefined {
    const live = [...this.#commands.values()].filter(({ running }) => !running.ended).length;
    if (live + this.#reserved >= MAX_LIVE) return undefined;
    this.#reserved += 1;
    let isKept = true;
    return {
      dispose: () => {
        if (isKept) this.#reserved -= 1;
        isKept = false;
      },
    };
  }

  add(command: Omit<LiveCommand, "id" | "seen">): LiveCommand {
    const made = { ...command, id: `p${++this.#lastId}`, seen: 0 };
    this.#commands.set(made.id, made);
    const ended = [...this.#commands.values()].filter(({ running }) => running.ended);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#commands.delete(id);
    return made;
  }

  /** One of an agent's own. */
  of(viewer: Viewer, id: string): LiveCommand | undefined {
    const found = this.#commands.get(id);
    return found && isOwn(found, viewer) ? found : undefined;
  }

  list(viewer: Viewer): LiveCommand[] {
    return [...this.#commands.values()].filter((one) => isOwn(one, viewer));
  }

  /** Ends them all, and waits for it. */
  async close(): Promise<void> {
    const all = [...this.#commands.values()].filter(({ running }) => !running.ended);
    for (const { running } of all) running.end("killed");
    await Promise.all(all.map(({ running }) => running.done));
    this.#commands.clear();
  }
}
