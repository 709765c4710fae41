import type { LocalRuntime } from "svc/sdk";
import { createTestRequests } from "svc/sdk/testing";
import { createLocalRuntime as create, type LocalRuntimeOptions as Options } from "../../plugins/local-runtime/runtime.ts";

export type LocalRuntimeOptions = Omit<Options, "request">;

/** The service `local-runtime@1` outside a gateway, for tests of plugins that use it. */
export function createLocalRuntime(options: LocalRuntimeOptions): { runtime: LocalRuntime; close(): Promise<void> } {
  const requests = createTestRequests();
  const { runtime, close } = create({ ...options, request: requests.request });
  return {
    runtime,
    async close() {
      await close();
      await requests.close();
    },
  };
}
