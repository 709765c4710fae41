import { createHttpPool } from "../../kernel/process/http/pool.ts";
import type { HttpRequestFunction } from "../types/request.ts";

/** `ctx.request` of a test. */
export interface TestRequests {
  readonly request: HttpRequestFunction;
  /** Ends every request and closes every connection. */
  close(): Promise<void>;
}

/**
 * The real `ctx.request` without a gateway, for a part of a plugin that is given it. Close it when the test is over.
 * @param env proxies are read from here; default: there are none
 */
export function createTestRequests(env: Readonly<Record<string, string | undefined>> = {}): TestRequests {
  return createHttpPool({ env, userAgent: "svc-plugin/test", signal: new AbortController().signal });
}
