import type { SvcClient } from "../client/types.ts";
import type { JsonObject } from "../types/common.ts";

/** A connected protocol client that remembers every event. */
export interface TestSocket {
  readonly client: SvcClient;
  /** Events so far, oldest first. */
  readonly events: ReadonlyArray<{ event: string; payload: JsonObject }>;
  request<T = JsonObject>(method: string, params?: JsonObject): Promise<T>;
  /**
   * The first event of this name (seen already or to come) that `matches` says yes to.
   * @throws {Error} when none arrived within `timeoutMs`, default 10 s
   */
  event(name: string, matches?: (payload: JsonObject) => boolean, timeoutMs?: number): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Remembers the events of a client from now on. */
export function createTestSocket(client: SvcClient): TestSocket {
  const events: Array<{ event: string; payload: JsonObject }> = [];
  client.on("*", (payload, frame) => events.push({ event: frame.event, payload }));
  return {
    client,
    events,
    request: async <T>(method: string, params: JsonObject = {}) => (await client.request(method as never, params as never)) as T,
    async event(name, matches = () => true, timeoutMs = 10_000) {
      const seen = events.find((e) => e.event === name && matches(e.payload));
      if (seen) return seen.payload;
      return new Promise((resolve, reject) => {
        const stop = client.on(name, (payload) => {
          if (!matches(payload)) return;
          clearTimeout(timer);
          stop();
          resolve(payload);
        });
        const timer = setTimeout(() => {
          stop();
          reject(new Error(`no event ${name} within ${timeoutMs / 1000} s; seen: ${events.map((e) => e.event).join(", ") || "none"}`));
        }, timeoutMs);
      });
    },
    close: () => client.close(),
  };
}
