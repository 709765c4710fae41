import { expect, test } from "vitest";
import { agentNames } from "./names.ts";

const named = (...tools: Array<[server: string, tool: string]>) => agentNames(tools.map(([server, tool]) => ({ server, tool })));

test("a tool is named by its server and itself, in the letters that models may use", () => {
  expect(named(["files", "readFile"], ["my-mail", "Send.Now!"])).toEqual(["mcp_files_readfile", "mcp_my_mail_send_now_"]);
  expect(named(["x", "\u0000\u202e\n"])).toEqual(["mcp_x____"]);
});

test("64 characters are a name, and one more ends in a hash", () => {
  const fits = "t".repeat(64 - "mcp_s_".length);
  expect(named(["s", fits])).toEqual([`mcp_s_${fits}`]);
  const [long = "", other = ""] = named(["s", `${fits}a`], ["s", `${fits}b`]);
  expect([long.length, other.length]).toEqual([64, 64]);
  expect(long).toMatch(/^mcp_s_t+_[0-9a-f]{8}$/);
  expect(long).not.toBe(other);
});

test("tools that would share a name all get a hash, whatever their order", () => {
  const first = named(["a", "b_c"], ["a_b", "c"]);
  const second = named(["a_b", "c"], ["a", "b_c"]);
  expect(new Set(first).size).toBe(2);
  expect(first.every((name) => /^mcp_a_b_c_[0-9a-f]{8}$/.test(name ?? ""))).toBe(true);
  expect(second).toEqual([first[1], first[0]]);
});

test("a reserved name is not given away, and a tool that is listed twice is there once", () => {
  expect(agentNames([{ server: "read", tool: "resource" }], ["mcp_read_resource"])[0]).toMatch(/^mcp_read_resource_[0-9a-f]{8}$/);
  const [one, two] = named(["s", "t"], ["s", "t"]);
  expect(one).toMatch(/^mcp_s_t_[0-9a-f]{8}$/);
  expect(two).toBeUndefined();
});
