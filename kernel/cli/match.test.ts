import { describe, expect, it } from "vitest";
import { type CommandEntry, longerCommands, matchCommand, unknown } from "./match.ts";

const commands: CommandEntry[] = [
  "gateway",
  "gateway run",
  "gateway status",
  "gateway call",
  "health",
  "memory status",
  "memory search",
  "system presence",
  "system heartbeat enable",
  "system heartbeat disable",
].map((name) => ({ words: name.split(" "), description: name, module: `/plugins/x/${name}.ts` }));
const match = (line: string) => matchCommand(commands, line.split(" ").filter(Boolean));

describe("matchCommand", () => {
  it.each([
    ["gateway", "gateway", []],
    ["gateway --port 1", "gateway", ["--port", "1"]],
    ["gateway status --json", "gateway status", ["--json"]],
    ["gateway call health --params {}", "gateway call", ["health", "--params", "{}"]],
    ["memory search boiler pressure", "memory search", ["boiler", "pressure"]],
  ])("%s is the command %s", (line, name, args) => {
    expect(match(line)).toMatchObject({ kind: "command", entry: { words: name.split(" ") }, args });
  });

  it("knows words that only begin commands", () => {
    expect(match("memory")).toMatchObject({ kind: "group", words: ["memory"] });
    expect(match("memory --agent main")).toMatchObject({ kind: "group" });
    expect(match("system heartbeat")).toMatchObject({
      kind: "group",
      words: ["system", "heartbeat"],
      members: [{ words: ["system", "heartbeat", "enable"] }, { words: ["system", "heartbeat", "disable"] }],
    });
  });

  it.each([
    ["helth", "health"],
    ["memory serach x", "memory search"],
    ["memroy status", "memory status"],
    ["weather", undefined],
    ["", undefined],
  ])("%s is unknown, and %s was meant", (line, suggestion) => {
    expect(match(line)).toEqual({ kind: "unknown", typed: line, suggestion });
  });

  it("a flag before the words hides them", () => {
    expect(match("--port 1 gateway")).toMatchObject({ kind: "unknown", typed: "" });
  });
});

it("suggests another name than the one that stands there and did not help", () => {
  expect(unknown(commands, ["gateway", "staus"]).suggestion).toBe("gateway status");
});

it("longerCommands lists what goes on after some words, not the words themselves", () => {
  expect(longerCommands(commands, ["gateway"]).map((c) => c.words[1])).toEqual(["run", "status", "call"]);
});
