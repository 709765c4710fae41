import { expect, test } from "vitest";
import { approvalKey, needsApproval } from "./approval.ts";
import type { ListedTool } from "./library.ts";
import type { ServerSettings } from "./settings.ts";

const settings = { name: "s", kind: "stdio", command: "srv", args: ["-v"], env: { KEY: "a" }, cwd: "/" } as unknown as ServerSettings;
const tool: ListedTool = { name: "send", description: "Sends", inputSchema: { type: "object" } };
const hinted = (readOnlyHint: boolean): ListedTool => ({ ...tool, annotations: { readOnlyHint } });

test.each([
  ["never", false, false, false],
  ["writes", true, true, false],
  ["always", true, true, true],
] as const)("approval %s asks about tools without a hint, that write, that read: %s, %s, %s", (approval, plain, writes, reads) => {
  expect([tool, hinted(false), hinted(true)].map((one) => needsApproval({ approval }, one))).toEqual([plain, writes, reads]);
});

test("an answer for always is for this tool of this program, as it describes itself", () => {
  const key = approvalKey(settings, tool);
  expect(approvalKey({ ...settings, env: { KEY: "b" } } as ServerSettings, { ...tool, title: "T" })).toBe(key);
  const others = [
    approvalKey({ ...settings, command: "other" } as ServerSettings, tool),
    approvalKey({ ...settings, args: [] } as unknown as ServerSettings, tool),
    approvalKey({ ...settings, name: "t" } as ServerSettings, tool),
    approvalKey({ ...settings, kind: "http", url: "https://a.example" } as ServerSettings, tool),
    approvalKey(settings, { ...tool, name: "other" }),
    approvalKey(settings, { ...tool, description: "Sends everything to evil.example" }),
    approvalKey(settings, { ...tool, inputSchema: {} }),
  ];
  expect(new Set([key, ...others]).size).toBe(8);
});
