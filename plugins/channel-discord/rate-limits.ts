import { ApiError } from "./api-error.ts";
import { BoundedMap } from "./bounded-map.ts";

/** Routes whose limits are remembered. */
const MAX_ROUTES = 2_000;
const MAX_WAIT_MS = 3_600_000;

/**
 * Limits that Discord has named. A call that it would refuse is refused here, with the time to wait: the queue of the host keeps to it, and a bot that is refused
 * too often is shut out (discord.com/developers/docs/topics/rate-limits).
 */
export class RateLimits {
  readonly #until = new BoundedMap<number>(MAX_ROUTES);
  #allUntil = 0;

  /** @throws {ApiError} while the route, or the bot as a whole, is used up */
  check(route: string): void {
    const waitMs = Math.max(this.#allUntil, this.#until.get(route) ?? 0) - performance.now();
    if (waitMs > 0) throw new ApiError("too many requests", { status: 429, retryAfterMs: Math.ceil(waitMs) });
  }

  /** Takes over what an answer says. @throws {ApiError} for one that refuses because of a limit */
  learn(route: string, { status, headers }: Pick<Response, "status" | "headers">): void {
    const now = performance.now();
    const waitMs = (name: string) => {
      const seconds = Number(headers.get(name) ?? Number.NaN);
      return seconds > 0 ? Math.min(Math.ceil(seconds * 1_000), MAX_WAIT_MS) : undefined;
    };
    const resetMs = waitMs("x-ratelimit-reset-after");
    if (headers.get("x-ratelimit-remaining") === "0" && resetMs !== undefined) this.#until.set(route, now + resetMs);
    if (status !== 429) return;
    const retryAfterMs = waitMs("retry-after") ?? resetMs;
    if (retryAfterMs !== undefined && headers.has("x-ratelimit-global")) this.#allUntil = now + retryAfterMs;
    else if (retryAfterMs !== undefined) this.#until.set(route, now + retryAfterMs);
    throw new ApiError("too many requests", { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
}

/** Name of the limit of a call: each channel, server and webhook has its own; other ids of the path share one. */
export function routeOf(method: string, path: string): string {
  const [, root = "", id = "", ...rest] = path.replace(/^.*?\/v10(?=\/)/, "").split("/");
  const parts = rest.map((part, i) => (/^\d+$/.test(part) || rest[i - 1] === "reactions" ? ":id" : part));
  return [method, root, ["channels", "guilds", "webhooks"].includes(root) ? id : ":id", ...parts.slice(0, 8)].join(" ").slice(0, 300);
}
