import { expect, it } from "vitest";
import type { PluginRecord, PluginState } from "../../sdk/types/plugin-record.ts";
import { summarizePlugins } from "./plugin-summary.ts";

const records = (...states: PluginState[]) => states.map((state, i) => ({ id: `p${i}`, state, code: "import-failed" }) as PluginRecord);

it.each<[PluginState[], string]>([
  [["active", "active"], "plugins: 2 active; 7 ms"],
  [["active", "ready"], "plugins: 1 active, 1 loads when it is used; 7 ms"],
  [["active", "ready", "ready", "disabled"], "plugins: 1 active, 2 load when they are used; 7 ms"],
  [
    ["degraded", "ready", "failed", "blocked"],
    "plugins: 0 active, 1 loads when it is used, 1 degraded, 1 failed (p2: import-failed), 1 blocked; 7 ms",
  ],
])("a boot with plugins that are %j ends with a line that counts each of them: %s", (states, line) => {
  expect(summarizePlugins(records(...states), 7)).toBe(line);
});
