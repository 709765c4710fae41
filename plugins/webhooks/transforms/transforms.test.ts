import { eventually, watchLeaks } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openSandbox } from "../../../test/tools/transform-sandbox.ts";
import { fault, stage } from "./testing/stage.ts";

// Each test starts a process or two; on a busy machine a start takes its time.
vi.setConfig({ testTimeout: 60_000 });

const failed = (reason: string): unknown => expect.objectContaining({ code: "transform-failed", reason: expect.stringContaining(reason) });

const here = stage({ beforeEach, afterEach, watchLeaks, openSandbox });
const { write, open, use } = here;

const helpers = `
export enum Kind { Issue = "issue", Push = "push" }
export interface Event { action: string; issue?: { number: number } }
export const title = (event: Event): string => \`\${Kind.Issue} no. \${event.issue?.number ?? 0} \${event.action}\`;
`;
const typed = `
import type { HookTransform } from "svc/sdk";
import { type Event, title } from "./lib/helpers.ts";
const transform: HookTransform = async ({ payload, headers, url, path }) => {
  const event = payload as Event;
  return { message: [title(event), headers["x-github-event"], url.searchParams.get("a"), url instanceof URL, path].join("|") };
};
export default transform;
`;

describe.each(["process", "worker", "off"] as const)("a transform with isolation %s", (isolation) => {
  /** For the tests that neither change a file nor end the guest: one serves them all. */
  const shared = stage({ beforeEach: beforeAll, afterEach: afterAll, watchLeaks, openSandbox });
  beforeAll(async () => {
    await shared.write({
      "github.ts": typed,
      "lib/helpers.ts": helpers,
      "default.mjs": 'export default () => ({ name: "default" }); export const transform = () => ({ name: "transform" });',
      "named.mts": 'export const transform = () => ({ name: "transform" }); export const other = () => ({ name: "other" });',
      "plain.cjs": 'module.exports = () => ({ name: "plain" });',
      "members.cjs": 'exports.transform = () => ({ name: "member" }); exports.other = () => ({ name: "other" });',
      "script.js": 'export function transform() { return { name: "script" }; }',
      "null.js": "export default () => null;",
      "nothing.js": "export default async () => {};",
      "odd.ts": `
const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const results: Record<string, unknown> = {
  text: "x", number: 1, list: [{}], yes: true, big: { n: 1n }, cycle, inner: { message: () => 1 }, itself: () => 1, none: { n: Number.NaN }, sign: { s: Symbol("s") },
  huge: { message: "x".repeat(2 * 1024 * 1024) }, throwing: { get message() { throw new Error("from a getter"); } },
};
export default ({ payload }: { payload: string }) => results[payload];`,
      "tricks.js": `
class Given { message = "own"; get deliver() { return false; } }
Given.prototype.channel = "inherited";
export default ({ payload }) => payload === "class" ? new Given() : JSON.parse('{"__proto__":{"deliver":false},"constructor":{"prototype":{}},"prototype":1,"name":"n"}');`,
      "throws.ts": 'import { check } from "./lib/check.ts";\nexport default () => check();\n',
      "lib/check.ts": 'type A = string;\n\nexport function check(): A {\n  throw new Error("no issue");\n}\n',
      "loading.ts": 'const a: string = "";\nthrow new Error("at load");\nexport default () => a;\n',
      "syntax.ts": "export const transform = () => ({\n  message: ;\n});\n",
      "missing.ts": 'import { x } from "./nowhere.ts";\nexport default () => x;\n',
    });
    await shared.open({ isolation }).start();
  });

  test("is TypeScript with types, an enum and helpers, and gets payload, headers, URL and path", async () => {
    expect(await shared.use("github.ts")).toEqual({ kind: "fields", fields: { message: "issue no. 7 opened|issues|1|true|github" } });
  });

  test("is the default export, else the one named transform, else the one that the mapping names", async () => {
    const nameOf = async (module: string, name?: string) => {
      const result = await shared.use(module, name === undefined ? {} : { export: name });
      return result.kind === "fields" ? result.fields.name : result.kind;
    };
    expect(await nameOf("default.mjs")).toBe("default");
    expect(await nameOf("default.mjs", "transform")).toBe("transform");
    expect(await nameOf("named.mts")).toBe("transform");
    expect(await nameOf("named.mts", "other")).toBe("other");
    expect(await nameOf("plain.cjs")).toBe("plain");
    expect(await nameOf("members.cjs")).toBe("member");
    expect(await nameOf("members.cjs", "other")).toBe("other");
    expect(await nameOf("script.js")).toBe("script");
    expect(await fault(shared.use("script.js", { export: "missing" }))).toEqual(
      failed('script.js: script.js exports no function "missing"'),
    );
    for (const name of ["toString", "constructor", "__proto__"]) {
      expect(await fault(shared.use("default.mjs", { export: name }))).toEqual(failed("exports no function"));
    }
  });

  test("says by null that nothing happens, and by undefined that the templates hold", async () => {
    expect(await shared.use("null.js")).toEqual({ kind: "skip" });
    expect(await shared.use("nothing.js")).toEqual({ kind: "keep" });
  });

  test("fails with every result that is no object of JSON", async () => {
    const reasons: Record<string, string> = {
      ...{
        text: "got a string",
        number: "got a number",
        list: "got a list",
        yes: "got a boolean",
        big: '"n" is a bigint',
        cycle: "circular",
      },
      ...{ inner: '"message" is a function', itself: "it is a function", none: '"n" is NaN', sign: '"s" is a symbol' },
      ...{ huge: "its result is larger than 1048576 bytes", throwing: "from a getter" },
    };
    for (const [payload, reason] of Object.entries(reasons)) {
      expect([payload, await fault(shared.use("odd.ts", { given: { payload } }))]).toEqual([payload, failed(reason)]);
    }
  });

  test("hands over own fields only, and none that reaches into an object's machinery", async () => {
    expect(await shared.use("tricks.js", { given: { payload: "class" } })).toEqual({ kind: "fields", fields: { message: "own" } });
    const result = await shared.use("tricks.js");
    expect(result).toEqual({ kind: "fields", fields: { name: "n" } });
    expect(result.kind === "fields" && Object.keys(result.fields)).toEqual(["name"]);
    expect(({} as { deliver?: unknown }).deliver).toBeUndefined();
  });

  test("that throws names file, line and column for the log, also in a helper and while it loads", async () => {
    expect(await fault(shared.use("throws.ts"))).toEqual(failed("throws.ts: no issue (lib/check.ts:4:"));
    expect(await fault(shared.use("loading.ts"))).toEqual(failed("loading.ts: at load (loading.ts:2:"));
    expect((await fault(shared.use("syntax.ts"))).reason).toMatch(/^syntax\.ts: .*\(syntax\.ts:2:\d+\)$/);
    expect(await fault(shared.use("missing.ts"))).toEqual(failed("nowhere.ts"));
  });

  test("is loaded once, and again after an edit of it or of a helper", async () => {
    const counter = 'import { word } from "./lib/word.ts";\nlet calls = 0;\nexport default () => ({ name: [word, ++calls].join(" ") });\n';
    await write({ "count.ts": counter, "lib/word.ts": 'export const word = "old";' });
    open({ isolation });
    const name = async () => {
      const result = await use("count.ts");
      return result.kind === "fields" ? result.fields.name : undefined;
    };
    expect([await name(), await name()]).toEqual(["old 1", "old 2"]);
    await write({ "lib/word.ts": 'export const word = "edited";' });
    await eventually(async () => /^edited \d+$/.test(String(await name())));
    await write({ "count.ts": counter.replace("word,", 'word, "new",') });
    await eventually(async () => /^edited new \d+$/.test(String(await name())));
  });

  test("that is broken by an edit fails its calls: the old version is not kept, a repaired one works", async () => {
    await write({ "a.mjs": 'export default () => ({ name: "one" });' });
    open({ isolation });
    expect(await use("a.mjs")).toMatchObject({ kind: "fields", fields: { name: "one" } });
    await write({ "a.mjs": "export default () => {{;" });
    await eventually(async () => (await fault(use("a.mjs"))).code === "transform-failed");
    expect((await fault(use("a.mjs"))).code).toBe("transform-failed");
    await write({ "a.mjs": 'export default () => ({ name: "two" });' });
    await eventually(async () => JSON.stringify(await use("a.mjs").catch(() => undefined))?.includes("two"));
  });

  test("that waits for ever is given up after its limit, the load of its file included", async () => {
    await write({ "hang.js": "export default () => new Promise(() => {});", "fine.js": "export default () => null;" });
    open({ isolation, timeoutMs: 30_000 });
    await use("fine.js");
    open({ isolation, timeoutMs: 2_000 });
    await here.transforms.start();
    expect(await fault(use("hang.js"))).toEqual(failed("hang.js did not finish within 2000 ms"));
  });
});
