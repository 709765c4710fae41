import { describe, expect, test } from "vitest";
import { parseSpec } from "./parse-spec.ts";

test.each([
  ["npm:notes", { kind: "npm", name: "notes", wanted: undefined }],
  ["npm:notes@1.2.3", { kind: "npm", name: "notes", wanted: "1.2.3" }],
  ["npm:notes@^1.0.0 || 2.x", { kind: "npm", name: "notes", wanted: "^1.0.0 || 2.x" }],
  ["npm:@scope/notes", { kind: "npm", name: "@scope/notes", wanted: undefined }],
  ["npm:@scope/notes@latest", { kind: "npm", name: "@scope/notes", wanted: "latest" }],
  ["./folder", { kind: "path", path: "./folder" }],
  ["/abs/plugin-1.0.0.tgz", { kind: "path", path: "/abs/plugin-1.0.0.tgz" }],
  ["folder with spaces", { kind: "path", path: "folder with spaces" }],
])("%s", (spec, source) => {
  expect(parseSpec(spec)).toEqual(source);
});

describe("refused is", () => {
  test.each([
    "",
    "  ",
    "npm:",
    "npm:@x/../../y",
    "npm:../y",
    "npm:@x",
    "npm:Notes",
    "npm:-g",
    "npm:notes@",
    "npm:notes@file:../x",
    "npm:notes@git+ssh://host/x",
    "npm:notes@npm:other",
    "npm:notes@--registry=x",
    "npm:notes@1;id",
    "npm:notes@$(id)",
    "https://host.example/x.tgz",
    "git+https://host.example/x",
    "file:///x",
  ])("%j", (spec) => {
    expect(() => parseSpec(spec)).toThrow(expect.objectContaining({ code: "plugin-source-invalid" }));
  });
});
