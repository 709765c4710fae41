import { describe, expect, test } from "vitest";
import { coreConfigSchema } from "../../kernel/config/compose-schema.ts";
import { reloadClassOf } from "../../kernel/config/reload-class.ts";
import { unservedValues } from "../../kernel/config/unserved.ts";
import { type SchemaNode, type SchemaRow, schemaRows } from "../tools/docs/schema-rows.ts";
import { effective, issuesAt, treeWith, valueAt } from "./_config.ts";
import { channelOnly, configKeys, perAgentOnlyInDefaults } from "./config-keys.table.ts";

interface Key {
  path: string;
  type: string;
  default: string;
}

const rows = schemaRows(coreConfigSchema() as SchemaNode);
const listed = parseTable(configKeys);
const agentPrefix = "agents.defaults.";
const channelPrefix = "channels.<name>.";

function parseTable(text: string): Key[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [, path = "", type = "", , value = ""] = /^(\S+) : (.*?)( = (.*))?$/.exec(line) ?? [];
    const unserved = unservedValues(path.replaceAll("<name>", "*").replaceAll("[]", ".*").split("."));
    const served = type.split("|").filter((name) => !unserved.includes(name));
    return { path, type: served.join("|"), default: value };
  });
}

/** The table without the values that are not part of this release, and with what it says once for two places. */
const expected = [
  ...listed,
  ...listed
    .filter(({ path }) => path.startsWith(agentPrefix) && !perAgentOnlyInDefaults.some((own) => `${path}.`.startsWith(`${own}.`)))
    .map((key) => ({ ...key, path: key.path.replace(agentPrefix, "agents.list[].") })),
  ...listed
    .filter(({ path }) => path.startsWith(channelPrefix) && !channelOnly.includes(path.slice(channelPrefix.length)))
    .map((key) => ({ ...key, path: key.path.replace(channelPrefix, "channels.<name>.accounts.<name>.") })),
];

const shownType = (row: SchemaRow) => row.type.replaceAll('"', "").replaceAll(" or ", "|");

describe("the key tree", () => {
  test("has exactly the keys of the references", () => {
    expect(rows.map((row) => row.path).sort()).toEqual(expected.map((key) => key.path).sort());
  });

  test("gives every key its type", () => {
    const types = new Map(rows.map((row) => [row.path, shownType(row)]));
    expect(expected.filter(({ path, type }) => types.get(path) !== type)).toEqual([]);
  });

  test("gives every key its default", () => {
    const defaults = new Map(rows.map((row) => [row.path, row.default]));
    // An agent's own value has no default where that of all agents holds.
    const inherits = (path: string) => path.startsWith("agents.list[].") && defaults.get(path) === "";
    expect(listed.filter(({ path, default: value }) => defaults.get(path) !== value)).toEqual([]);
    expect(expected.filter(({ path, default: value }) => defaults.get(path) !== value && !inherits(path))).toEqual([]);
  });

  test("describes every key and says what a live change of it does", () => {
    expect(rows.filter((row) => !/[A-Za-z]{3}/.test(row.note.replace(/^secret/, ""))).map((row) => row.path)).toEqual([]);
    expect(rows.filter((row) => row.reload === "").map((row) => row.path)).toEqual([]);
  });

  test("tells the same class for a live change as the reload plan", () => {
    const concrete = (path: string) => path.replaceAll("<name>", "any").replaceAll("[]", "[0]");
    expect(rows.filter((row) => reloadClassOf(concrete(row.path)).reload !== row.reload).map((row) => row.path)).toEqual([]);
  });
});

describe("an empty file", () => {
  const empty = effective({});
  const plain = listed.filter(({ path, default: value }) => value !== "" && !path.includes("[]") && !path.includes("<name>"));

  test.each(plain.filter(({ path }) => valueAt(empty, path) !== undefined))("means $path = $default", ({ path, default: value }) => {
    expect(valueAt(effective(treeWith(path, JSON.parse(value))), path)).toEqual(valueAt(empty, path));
  });

  const appliedLater = plain.filter(({ path, default: value }) => valueAt(empty, path) === undefined && !/<[a-z]/i.test(value));
  test.each(appliedLater)("leaves $path open for its reader, whose default is a value that may be written", ({ path, default: value }) => {
    expect(issuesAt(path, JSON.parse(value))).toEqual([]);
  });
});

describe("sections that this product does not have", () => {
  test.each(["gateway.terminal", "gateway.nodes", "gateway.push", "terminal", "nodes", "push"])("%s is unknown", (path) => {
    expect(issuesAt(path, {})).toMatchObject([{ path, code: "unknown_key" }]);
  });
});
