import { type Agents, type HookEvent, isSvcError, type Logger, type Messaging, messageOf } from "svc/sdk";
import { DEBUG, STATUS } from "./note.ts";
import type { Outcome } from "./search.ts";

/** Runs whose lines wait for their answers. */
const MAX_WAITING = 500;
/** End of the id of the message that the answer of a run is. */
const ANSWER = ":out";

/** A search in a line, and what it found in another one. Pure. */
export function linesOf({ status, note, ms, mode, isCached }: Outcome): string[] {
  const chars = note === undefined ? [] : [`${note.length} chars`];
  const line = [STATUS, status, `${ms}ms`, mode, ...chars, ...(isCached ? ["cached"] : [])].join(" ");
  return note === undefined ? [line] : [line, `${DEBUG} ${note}`];
}

interface Deps {
  agents(): Pick<Agents, "notice">;
  messaging(): Pick<Messaging, "deliver">;
  logger: Pick<Logger, "debug">;
}

type Waiting = { lines: readonly string[]; surface: HookEvent<"prompt.build">["surface"] };

/** Shows lines about searches after the answers they were made for: to clients of a chat, or on the channel. Nothing of it is stored in a transcript. */
export class StatusLines {
  readonly #deps: Deps;
  readonly #waiting = new Map<string, Waiting>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** To be shown when the run has answered. */
  add(runId: string, waiting: Waiting): void {
    this.#waiting.set(runId, waiting);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_WAITING) break;
      this.#waiting.delete(oldest);
    }
  }

  /** The run has ended; on a channel its answer is on its way. */
  async ended({ runId, agentId, sessionKey, status }: HookEvent<"agent.end">): Promise<void> {
    const waiting = this.#waiting.get(runId);
    if (!waiting || (waiting.surface === "channel" && status === "ok")) return;
    this.#waiting.delete(runId);
    if (status !== "ok") return;
    await this.#try(() => this.#deps.agents().notice({ agentId, sessionKey, text: waiting.lines.join("\n") }));
  }

  /** A channel has taken a message. */
  async sent({ uid, part, channel, to, accountId, threadId, agentId, sessionKey }: HookEvent<"outbound.sent">): Promise<void> {
    if (this.#waiting.size === 0 || !uid.endsWith(ANSWER) || (part && part.index < part.of)) return;
    const runId = uid.slice(0, -ANSWER.length);
    const waiting = this.#waiting.get(runId);
    if (!waiting) return;
    this.#waiting.delete(runId);
    const route = {
      channel,
      ...(to === undefined ? {} : { to }),
      ...(accountId === undefined ? {} : { accountId }),
      ...(threadId === undefined ? {} : { threadId }),
    };
    const message = { ...route, agentId, sessionKey, text: waiting.lines.join("\n"), isAnswer: false, origin: "chat" as const };
    await this.#try(() => this.#deps.messaging().deliver({ ...message, uid: `${runId}:active-memory` }));
  }

  async #try(show: () => Promise<unknown>): Promise<void> {
    try {
      await show();
    } catch (error) {
      if (!isSvcError(error, "plugin-disposed"))
        this.#deps.logger.debug("the line about a search was not shown", { error: messageOf(error) });
    }
  }
}
