import type { ClientInfo } from "svc/sdk";

/** Topic of the session list. */
export const SESSIONS_TOPIC = "sessions";

/** Topic of one session's messages. */
export function messagesTopic(sessionKey: string): string {
  return `session-messages:${sessionKey}`;
}

/** Which connection follows which session; needed for connections that want the runs of their own sessions only. */
export class Subscriptions {
  readonly #keys = new Map<string, Set<string>>();

  add(connId: string, sessionKey: string): void {
    const keys = this.#keys.get(connId) ?? new Set();
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
