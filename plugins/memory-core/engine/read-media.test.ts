import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { readMedia } from "./read-media.ts";

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(50, 7)]);
let ws: TestWorkspace;
let path: string;
beforeEach(() => {
  ws = createTestWorkspace();
  path = ws.write("cat.png", png);
});
afterEach(() => ws.remove());

const read = () => readMedia(path, { path: "cat.png", real: path, maxBytes: 1_000 });

function bytesAfter(change: () => void): Uint8Array | undefined {
  const content = read();
  if (content.kind !== "media") throw new Error(content.kind);
  change();
  return content.media.bytes();
}

test("the bytes are those that were hashed", () => {
  expect(bytesAfter(() => undefined)).toEqual(png);
});

test.each<[string, () => void]>([
  ["has changed", () => writeFileSync(path, Buffer.concat([png, Buffer.from("x")]))],
  ["has gone", () => rmSync(path)],
  ["has grown too large", () => writeFileSync(path, Buffer.alloc(2_000))],
  [
    "has become a symlink",
    () => {
      rmSync(path);
      symlinkSync(ws.write("other.png", png), path);
    },
  ],
  [
    "has become a FIFO",
    () => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
  ],
])("a file that %s meanwhile is not embedded", (_, change) => {
  expect(bytesAfter(change)).toBeUndefined();
});
