import { expect, test } from "vitest";
import { faultText } from "./fault-text.ts";

const root = "/home/ada/plugins/hello";

function fault(message: string, ...frames: string[]): Error {
  const error = new TypeError(message);
  error.stack = [`TypeError: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join("\n");
  return error;
}

test.each<[string, unknown, string]>([
  [
    "a file that does not parse, as the transpiler tells it",
    new Error(`ParseError: Unexpected token  \n ${root}/src/index.ts:4:10`),
    "src/index.ts:4:10: Unexpected token",
  ],
  [
    "a throw, by the first frame of its own",
    fault("no", "run (node:vm:1:1)", `${root}/node_modules/lib/a.js:1:2`, `setup (${root}/src/a.ts:6:13)`, `${root}/src/b.ts:1:1`),
    "src/a.ts:6:13: no",
  ],
  [
    "a module that is not there, without a line",
    new Error(`Cannot find module './x.ts'\nRequire stack:\n- ${root}/src/index.ts`),
    "src/index.ts: Cannot find module './x.ts'",
  ],
  [
    "a file with a line before one without",
    fault(`in ${root}/src/index.ts something is wrong`, `${root}/src/b.ts:3:4`),
    `src/b.ts:3:4: in ${root}/src/index.ts something is wrong`,
  ],
  ["a copy of native modules", fault("no", "file:///state/cache/gen/hello/3/index.mjs:2:7"), "index.mjs:2:7: no"],
  ["paths of another system", fault("no", "C:\\plugins\\hello\\src\\a.ts:6:13"), "no"],
  ["an error from elsewhere", fault("no", "/home/ada/plugins/hello-two/src/a.ts:6:13"), "no"],
  ["what is no error", "text", "text"],
])("%s", (_name, error, expected) => {
  expect(faultText(error, root)).toBe(expected);
});

test("a folder on Windows is found as well", () => {
  expect(faultText(fault("no", "setup (C:\\plugins\\hello\\src\\a.ts:6:13)"), "C:\\plugins\\hello")).toBe("src/a.ts:6:13: no");
});
