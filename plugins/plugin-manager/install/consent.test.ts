import { expect, test } from "vitest";
import { decideConsent } from "./consent.ts";

const asked = ["exec", "net"] as const;
const decide = (options: Partial<Parameters<typeof decideConsent>[1]>) =>
  decideConsent(asked, { all: false, before: [], ...options })
    .filter((c) => c.granted)
    .map((c) => c.permission);

test("nothing is granted unless somebody says so", () => {
  expect(decide({})).toEqual([]);
});

test("what is named is granted, and nothing else", () => {
  expect(decide({ grant: "net" })).toEqual(["net"]);
  expect(decide({ grant: " net , exec," })).toEqual(["exec", "net"]);
});

test("everything it asks for is granted by one word", () => {
  expect(decide({ all: true })).toEqual(["exec", "net"]);
});

test("what was granted before stays granted, but nothing it has stopped asking for", () => {
  expect(decide({ before: ["exec", "rpc.admin"] })).toEqual(["exec"]);
});

test("a permission it does not ask for is a slip of the operator", () => {
  expect(() => decide({ grant: "exe" })).toThrow("--grant exe: the plugin does not ask for that; expected one of exec, net");
  expect(() => decideConsent([], { grant: "exec", all: false, before: [] })).toThrow("it asks for no permission");
});
