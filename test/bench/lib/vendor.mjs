import { join } from "node:path";
import { root } from "./gateway.mjs";
import { get } from "./http.mjs";
import { freePort, startProcess } from "./process.mjs";

/** An embedding vendor in a process of its own, that answers at once (`baselines/vendor.mjs`). */
export async function spawnVendor() {
  const port = await freePort();
  const child = startProcess([join(root, "test/bench/baselines/vendor.mjs"), String(port)]);
  const url = `http://127.0.0.1:${port}`;
  for (const deadline = performance.now() + 10_000; ; ) {
    try {
      await get(`${url}/calls`);
      break;
    } catch (error) {
      if (performance.now() > deadline || !child.isRunning())
        throw new Error(`the vendor did not start: ${error.message}\n${child.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return {
    baseUrl: `${url}/v1`,
    /** @returns texts embedded so far, and milliseconds spent on requests of a single text */
    calls: async () => JSON.parse((await get(`${url}/calls`)).body),
    stop: () => child.stop(),
  };
}
