import { describe, expect, test } from "vitest";
import { apiReport } from "../tools/docs/api-report.ts";

const files: Record<string, string> = {
  "sdk/index.d.ts":
    '/** What plugins import. */\nexport { z } from "zod";\nexport * from "./b.ts";\nexport type { A } from "./types/a.ts";\n',
  "sdk/b.d.ts":
    'import type { A } from "./types/a.ts";\n/** Effect. */\nexport declare function run(a: A, url?: "http://x"): void; // why\nexport {};\n',
  "sdk/types/a.d.ts": '/** A thing. */\nexport interface A {\n    /** One. */\n    one: number;\n\n    two: import("../c.ts").C;\n}\n',
  "sdk/c.d.ts": `export type C = {\n${Array.from({ length: 200 }, (_, i) => `    key${i}: string;`).join("\n")}\n};\n`,
};
const report = (changed: Record<string, string> = {}) =>
  apiReport({ "svc/sdk": "sdk/index.d.ts" }, (path) => ({ ...files, ...changed })[path] as string);

describe("the report of the public surface", () => {
  test("leaves out what no entry exports and no declaration mentions", () => {
    const text = report({
      "sdk/index.d.ts": 'export { run } from "./b.ts";\n',
      "sdk/b.d.ts":
        'import type { A } from "./types/a.ts";\nimport { D } from "./d.ts";\ntype Inner = A;\nexport declare function run(a: Inner): void;\nexport declare function hidden(d: D): void;\n',
    });

    expect([...text.matchAll(/^## (.*)$/gm)].map((m) => m[1])).toEqual(["sdk/b.ts", "sdk/c.ts", "sdk/index.ts", "sdk/types/a.ts"]);
    expect(text).toContain("type Inner = A;\nexport declare function run(a: Inner): void;");
    expect(text).not.toContain("hidden");
  });

  test("follows what the entry names, in path order and without comments", () => {
    const text = report();

    expect([...text.matchAll(/^## (.*)$/gm)].map((m) => m[1])).toEqual(["sdk/b.ts", "sdk/c.ts", "sdk/index.ts", "sdk/types/a.ts"]);
    expect(text).toContain('```ts\nexport declare function run(a: A, url?: "http://x"): void;\n```');
    expect(text).toContain('```ts\nexport interface A {\n    one: number;\n    two: import("../c.ts").C;\n}\n```');
    expect(text).toContain('export { z } from "zod";\nexport type { A } from "./types/a.ts";');
    expect(text).not.toContain("Effect");
  });

  test("shows a very long declaration by its name and a hash that changes with it", () => {
    const line = (text: string) => /^export type C … \/\/ [0-9a-f]{12}$/m.exec(text)?.[0];

    expect(line(report())).toBeDefined();
    expect(line(report({ "sdk/c.d.ts": (files["sdk/c.d.ts"] as string).replace("key7:", "key7?:") }))).not.toBe(line(report()));
  });
});
