import type { ClientInfo } from "svc/sdk";
import { agentErrors } from "../errors.ts";

/** Sessions that one connection follows at a time; their keys may be long, and nobody has to have heard of them. */
export const MAX_FOLLOWED = 1_000;

/** Topic of the session list. */
export const SESSIONS_TOPIC = "sessions";

/** Topic of one session's messages. */
export function messagesTopic(sessionKey: string): string {
  return `session-messages:${sessionKey}`;
}

/** Subscriptions of connections to sessions: a bound for each, and for connections that want the runs of their own sessions only. */
export class Subscriptions {
  readonly #keys = new Map<string, Set<string>>();

  /** @throws {SvcError} `too-many-followed` */
  add(connId: string, sessionKey: string): void {
    const keys = this.#keys.get(connId) ?? new Set();
    if (keys.size >= MAX_FOLLOWED && !keys.has(sessionKey)) throw agentErrors.tooManyFollowed({ limit: MAX_FOLLOWED });
    keys.add(sessionKey);
    this.#keys.set(connId, keys);
  }

  remove(connId: string, sessionKey: string): void {
    const keys = this.#keys.get(connId);
    keys?.delete(sessionKey);
    if (keys?.size === 0) this.#keys.delete(connId);
  }

  drop(connId: string): void {
    this.#keys.delete(connId);
  }

  /** With the cap `session-scoped-events` only followed sessions and own runs are of interest. */
  wants(client: ClientInfo, sessionKey: string, participants: ReadonlySet<string>): boolean {
    if (!client.caps.includes("session-scoped-events")) return true;
    return participants.has(client.connId) || this.#keys.get(client.connId)?.has(sessionKey) === true;
  }
}
