import { isOpenToOthers } from "./permission.ts";
import type { RunningCommand } from "./running-command.ts";

/** Background commands of all agents together. */
export const MAX_LIVE = 8;
/** Ended ones whose output can still be read. */
const MAX_ENDED = 16;

export interface LiveCommand {
  id: string;
  agentId: string;
  /** Session that started it. */
  sessionKey: string;
  /** For people and models. */
  shown: string;
  startedAt: number;
  running: RunningCommand;
  /** Place up to which its agent has read. */
  seen: number;
}

/** Place that a tool is called from. */
type Viewer = Pick<LiveCommand, "agentId" | "sessionKey">;

/** Whether a command is of an agent. Strangers must not write to what another session has started: a shell that was allowed there would obey them unasked. */
function isOwn(command: Viewer, { agentId, sessionKey }: Viewer): boolean {
  return command.agentId === agentId && (command.sessionKey === sessionKey || !isOpenToOthers(sessionKey));
}

/** Commands that go on while their agent does something else. */
export class LiveCommands {
  readonly #commands = new Map<string, LiveCommand>();
  #lastId = 0;

  get live(): number {
    return [...this.#commands.values()].filter(({ running }) => !running.ended).length;
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
