import type { Agent } from "undici";
import { type AnswerLimits, answerLimits, limited } from "./answer-limits.ts";

/** One keep-alive pool to one server. */
export interface Connection {
  /** An answer ends where its limits do: those of a stream of events, unless others are given. */
  fetch(input: string | URL | Request, init?: RequestInit, limits?: AnswerLimits): Promise<Response>;
  /** Closes every socket, also those in use. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Idle sockets are kept this long; the time between two turns of a conversation. */
const KEEP_ALIVE_MS = 30_000;
const MAX_SOCKETS = 64;
const USER_AGENT = "svc";

/**
 * A pool that is opened with the first request; undici is not loaded before.
 * @param timeoutMs limit for the first byte of an answer and for each silence within it
 */
export function createConnection(timeoutMs: number): Connection {
  let opening: Promise<{ agent: Agent; fetch: typeof globalThis.fetch }> | undefined;

  async function open() {
    const undici = await import("undici");
    const agent = new undici.Agent({
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connections: MAX_SOCKETS,
    });
    return { agent, fetch: undici.fetch as unknown as typeof globalThis.fetch };
  }

  return {
    async fetch(input, init, limits = answerLimits) {
      opening ??= open();
      const { agent, fetch } = await opening;
      const headers = { ...(init?.headers as Record<string, string>), "user-agent": USER_AGENT };
      // A redirect is an answer of its own: the key must not follow it to another origin.
      const options = { ...init, headers, redirect: "manual", dispatcher: agent } as unknown as RequestInit;
      return limited(await fetch(input, options), limits);
    },
    async close() {
      const opened = await opening?.catch(() => undefined);
      await opened?.agent.destroy();
    },
  };
}
