import { expect, test } from "vitest";
import { withoutMembers } from "./without-members.ts";

const tree = {
  agents: { list: [{ id: "main" }, { id: "ops", name: "Ops" }] },
  bindings: [{ agentId: "ops", match: {} }, { agentId: "main" }, { agentId: "ops" }],
};

test("members that have all the values go, the others and their order stay", () => {
  const where = [
    { list: "agents.list", where: { id: "ops" } },
    { list: "bindings", where: { agentId: "ops" } },
  ];
  expect(withoutMembers(tree, where)).toEqual({ agents: { list: [{ id: "main" }] }, bindings: [{ agentId: "main" }] });
  expect(withoutMembers(tree, [{ list: "agents.list", where: { id: "ops", name: "other" } }])).toBe(tree);
});

test("lists that are not there, and what is no list, are left alone", () => {
  expect(withoutMembers({}, [{ list: "agents.list", where: { id: "x" } }])).toEqual({});
  expect(withoutMembers({ agents: { list: "text" } }, [{ list: "agents.list", where: { id: "x" } }])).toEqual({ agents: { list: "text" } });
});

test("a value that was inherited is none", () => {
  const inherited = { list: [Object.create({ id: "x" }), "x", null] };
  expect(withoutMembers(inherited, [{ list: "list", where: { id: "x" } }])).toBe(inherited);
});

test("a path to a prototype is refused", () => {
  expect(() => withoutMembers({}, [{ list: "__proto__.list", where: {} }])).toThrow(
    expect.objectContaining({ code: "config-path-invalid" }),
  );
});
