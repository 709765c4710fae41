import { describe, expect, test } from "vitest";

const load = (name: string) => import(new URL(`./public/core/${name}.js`, import.meta.url).href);
const facts = { ...(await load("config-facts")), ...(await load("config-maps")), ...(await load("config-search")) };
const edit = { ...(await load("config-edits")), ...(await load("config-diff")) };
const paths = await load("config-paths");
const { diffLines } = await load("line-diff");

const REDACTED = "__SVC_REDACTED__";
const secret = { anyOf: [{ type: "string" }, { type: "object", properties: { source: { const: "env" }, id: { type: "string" } } }] };
const schema = {
  type: "object",
  $defs: { limit: { anyOf: [{ type: "integer", minimum: 1 }, { type: "string" }] } },
  properties: {
    $schema: { type: "string" },
    gateway: {
      type: "object",
      reload: "restart",
      properties: {
        port: { type: "integer", minimum: 1, maximum: 65_535, default: 18_789 },
        bind: { enum: ["loopback", "custom"], default: "loopback" },
        auth: { type: "object", properties: { token: secret, enabled: { type: "boolean" } }, reload: "hot" },
        limit: { $ref: "#/$defs/limit" },
        root: { type: "string", notInRelease: true, not: {} },
      },
    },
    mcp: {
      type: "object",
      reload: "hot",
      properties: {
        servers: {
          type: "object",
          propertyNames: { pattern: "^[a-z]+$", patterns: [{ pattern: "^[a-z]+$", message: "expected small letters" }] },
          additionalProperties: {
            type: "object",
            properties: {
              command: { type: "string" },
              args: { type: "array", items: { type: "string" } },
              env: { type: "object", additionalProperties: secret },
            },
          },
        },
      },
    },
    agents: {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } },
        mode: { anyOf: [{ type: "boolean" }, { const: "auto" }] },
        nothing: { anyOf: [{ type: "string" }, { type: "object", properties: {} }] },
        itself: { $ref: "#/properties/agents/properties/itself" },
      },
    },
  },
};
const uiHints = {
  "gateway.port": { label: "Port", help: "Where it listens" },
  "gateway.auth.token": { label: "Token", sensitive: true },
  "gateway.limit": { advanced: true },
  "mcp.servers.*.env.*": { sensitive: true },
};
const model = facts.modelOf(schema, uiHints);
const stored = {
  gateway: { port: 18_789, auth: { token: REDACTED } },
  mcp: { servers: { files: { command: "npx", args: ["-y", "files"], env: { TOKEN: REDACTED } } } },
  agents: {
    list: [
      { id: "main", token: REDACTED },
      { id: "ops", model: "small" },
    ],
  },
};

interface Node {
  path: string[];
  schema: object;
  hint: { sensitive?: boolean };
  reload: string;
}
/** Node of the form at a path, found the way the page finds it. */
const nodeAt = (path: string[]): Node =>
  path.reduce<Node>((node, key) => {
    const { named, rows } = facts.membersOf(node, paths.valueAt(stored, node.path), model);
    return [...named, ...rows].find((one: Node) => one.path.at(-1) === key) as Node;
  }, facts.rootNode(model));
const kindAt = (...path: string[]) => {
  const { schema: own, hint } = nodeAt(path);
  return facts.kindOf(own, model, hint);
};

describe("the form", () => {
  test.each([
    [["gateway", "auth", "enabled"], { kind: "switch" }],
    [["gateway", "bind"], { kind: "select", choices: ["loopback", "custom"] }],
    [["agents", "mode"], { kind: "select", choices: [true, false, "auto"] }],
    [["gateway", "port"], { kind: "number", isWhole: true, min: 1, max: 65_535 }],
    [["gateway", "limit"], { kind: "text", takesNumbers: true }],
    [["mcp", "servers", "files", "command"], { kind: "text", takesNumbers: false }],
    [["mcp", "servers", "files", "args"], { kind: "rows", item: { kind: "text", takesNumbers: false } }],
    [["mcp", "servers"], { kind: "group" }],
    [["gateway", "auth", "token"], { kind: "secret" }],
    [["mcp", "servers", "files", "env", "TOKEN"], { kind: "secret" }],
    [["agents", "list"], { kind: "json" }],
    [["agents", "nothing"], { kind: "json" }],
    [["agents", "itself"], { kind: "json" }],
  ])("has a control for %j", (path, kind) => {
    expect(kindAt(...path)).toEqual(kind);
  });

  test("shows what a release serves, the members of maps, and how a change is applied", () => {
    const names = (path: string[]) => facts.membersOf(nodeAt(path), paths.valueAt(stored, path), model);
    expect(names([]).named.map(({ path }: Node) => path[0])).toEqual(["gateway", "mcp", "agents"]);
    expect(names(["gateway"]).named.map(({ path }: Node) => path[1])).toEqual(["port", "bind", "auth", "limit"]);
    expect(names(["mcp", "servers"]).rows.map(({ path }: Node) => path)).toEqual([["mcp", "servers", "files"]]);
    expect([nodeAt(["gateway", "port"]).reload, nodeAt(["gateway", "auth", "token"]).reload]).toEqual(["restart", "hot"]);
  });

  test("says which names and values cannot be", () => {
    const servers = nodeAt(["mcp", "servers"]);
    expect(facts.nameProblem(servers, "FILES", model)).toMatch(/expected small letters/);
    expect(facts.nameProblem(servers, "notes", model)).toBeUndefined();
    const port = kindAt("gateway", "port");
    const rows: Array<[string, unknown, boolean]> = [
      ["80", 80, true],
      ["0", 0, false],
      ["65536", 65_536, false],
      ["8.5", 8.5, false],
      ["8o", "8o", false],
      ["", "", false],
    ];
    for (const [text, value, isFine] of rows) {
      expect(facts.valueOfText(port, text), text).toBe(value);
      expect(facts.valueProblem(port, value), text).toEqual(isFine ? undefined : "Expected a whole number from 1 to 65535.");
    }
    expect([facts.valueOfText(kindAt("gateway", "limit"), "30"), facts.valueOfText(kindAt("gateway", "limit"), "30s")]).toEqual([
      30,
      "30s",
    ]);
  });

  test("is searched by path, label and help, those whose path has the words first", () => {
    const found = (q: string) => facts.matching(facts.fieldsOf(model, stored), q).map(({ node }: { node: Node }) => node.path.join("."));
    expect(found("listens where")).toEqual(["gateway.port"]);
    expect(found("env")).toContain("mcp.servers.files.env.TOKEN");
    expect(found("no such thing")).toEqual([]);
  });

  test("puts issues of the gateway at their fields", () => {
    const issues = [
      { path: "gateway.port", message: "too big" },
      { path: 'mcp.servers["files"].args[0]', message: "no" },
    ];
    expect(facts.issuesAt(issues, ["gateway", "port"], paths.parsePath)).toEqual(["too big"]);
    expect(facts.issuesAt(issues, ["mcp", "servers", "files", "args"], paths.parsePath)).toEqual(["no"]);
    expect(facts.issuesAt(issues, ["gateway", "bind"], paths.parsePath)).toEqual([]);
  });
});

test("paths are read and written as the gateway writes them", () => {
  const rows: Array<[string, string[]]> = [
    ["gateway.port", ["gateway", "port"]],
    ['models.providers["my.vendor"].apiKey', ["models", "providers", "my.vendor", "apiKey"]],
    ['a["b \\"c\\" d"]', ["a", 'b "c" d']],
    ["", []],
  ];
  for (const [text, path] of rows) {
    expect(paths.parsePath(text), text).toEqual(path);
    expect(paths.formatPath(path)).toBe(text);
  }
  expect(paths.parsePath("agents.list[0].model")).toEqual(["agents", "list", "0", "model"]);
});

test("no path leads out of the tree of values", () => {
  for (const key of ["__proto__", "constructor", "prototype"]) {
    expect(paths.withValue({}, [key, "polluted"], 1)).toEqual({});
    expect(paths.valueAt({}, [key])).toBeUndefined();
  }
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

type Change = { path: string[]; value?: unknown; problem?: string };
const edited = (...list: Change[]) => list.reduce((all, one) => edit.withEdit(all, one, stored), new Map());
const patched = (...list: Change[]) => edit.patchOf(stored, edit.withEdits(stored, edited(...list)));

describe("a patch", () => {
  test("has the changed paths and nothing else", () => {
    expect(patched({ path: ["gateway", "port"], value: 80 }, { path: ["agents", "mode"], value: "auto" })).toEqual({
      patch: { gateway: { port: 80 }, agents: { mode: "auto" } },
      replacePaths: [],
      hidden: [],
    });
    expect(patched({ path: ["gateway", "port"] }).patch).toEqual({ gateway: { port: null } });
  });

  test("names lists that are taken as they stand, and merges members with ids", () => {
    const args = ["mcp", "servers", "files", "args"];
    expect(patched({ path: args, value: ["-y"] })).toMatchObject({
      patch: { mcp: { servers: { files: { args: ["-y"] } } } },
      replacePaths: ["mcp.servers.files.args"],
    });
    const list = [stored.agents.list[0], { id: "ops", model: "large" }, { id: "new" }];
    expect(patched({ path: ["agents", "list"], value: list })).toEqual({
      patch: { agents: { list: [{ id: "ops", model: "large" }, { id: "new" }] } },
      replacePaths: [],
      hidden: [],
    });
  });

  test("never carries a placeholder: what it stands for stays, or the place is named", () => {
    const files = { ...stored.mcp.servers.files, command: "node" };
    expect(patched({ path: ["mcp", "servers", "files"], value: files }).patch).toEqual({
      mcp: { servers: { files: { command: "node" } } },
    });
    const moved: Change[] = [
      { path: ["agents", "list"], value: [{ id: "main", token: REDACTED }] },
      { path: ["mcp", "servers", "other"], value: { env: { TOKEN: REDACTED } } },
      { path: ["gateway", "bind"], value: `http://${REDACTED}@host` },
    ];
    const made = patched(...moved);
    expect(JSON.stringify(made.patch)).not.toContain(REDACTED);
    expect(made.hidden.sort()).toEqual(["agents.list", "gateway.bind", "mcp.servers.other.env.TOKEN"]);
  });

  test("adds a member of a map with what was typed below it, and takes one out", () => {
    const notes = ["mcp", "servers", "notes"];
    expect(patched({ path: notes, value: {} }, { path: [...notes, "command"], value: "npx" }).patch).toEqual({
      mcp: { servers: { notes: { command: "npx" } } },
    });
    expect(patched({ path: ["mcp", "servers", "files"] })).toEqual({
      patch: { mcp: { servers: { files: null } } },
      replacePaths: ["mcp.servers.files"],
      hidden: [],
    });
  });
});

describe("edits", () => {
  test("that lead back to what is stored are none, and what was edited below a removed member goes with it", () => {
    expect(edited({ path: ["gateway", "port"], value: 80 }, { path: ["gateway", "port"], value: 18_789 }).size).toBe(0);
    const files = ["mcp", "servers", "files"];
    expect([...edited({ path: [...files, "command"], value: "node" }, { path: files }).keys()]).toEqual(["mcp.servers.files"]);
  });

  test("that stand for no value yet change nothing and are kept", () => {
    const edits = edited({ path: ["gateway", "port"], problem: "Expected a whole number." });
    expect(edits.size).toBe(1);
    expect(edit.withEdits(stored, edits)).toEqual(stored);
  });

  test("go on top of another's config, and those that it has already are gone", () => {
    const theirs = { ...stored, gateway: { ...stored.gateway, port: 80, bind: "custom" } };
    const carried = edit.carriedOver(edited({ path: ["gateway", "port"], value: 80 }, { path: ["agents", "mode"], value: true }), theirs);
    expect([...carried.keys()]).toEqual(["agents.mode"]);
    expect(edit.withEdits(theirs, carried)).toEqual({ ...theirs, agents: { ...theirs.agents, mode: true } });
  });

  test("are named leaf by leaf, and of secrets only that they change", () => {
    const edits = edited(
      { path: ["gateway", "auth", "token"], value: "hunter2" },
      { path: ["mcp", "servers", "notes"], value: { command: "npx", env: { KEY: "hunter2" } } },
    );
    const changes = edit.changesOf(stored, edit.withEdits(stored, edits), model);
    expect(changes.map(({ path, isSecret }: { path: string[]; isSecret: boolean }) => [path.join("."), isSecret])).toEqual([
      ["gateway.auth.token", true],
      ["mcp.servers.notes.command", false],
      ["mcp.servers.notes.env.KEY", true],
    ]);
  });

  test("are kept in the tab without any that holds a secret", () => {
    const edits = edited(
      { path: ["gateway", "port"], value: 80 },
      { path: ["gateway", "auth", "token"], value: "hunter2" },
      { path: ["gateway", "auth"], value: { token: "hunter2" } },
      { path: ["mcp", "servers", "notes"], value: { env: { KEY: "hunter2" } } },
      { path: ["mcp", "servers", "files"], problem: "Not JSON yet" },
    );
    expect(edit.keepable(edits, stored, model).map(({ path }: Change) => path.join("."))).toEqual(["gateway.port"]);
  });
});

describe("the difference of two texts", () => {
  const signs = (before: string, after: string) =>
    diffLines(before, after).map(({ sign, text }: { sign: string; text: string }) => `${sign}${text}`);

  test("has the lines out and in with two around them, and a mark where others are left out", () => {
    const before = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].join("\n");
    const after = before.replace("b", "B").replace("h", "H");
    expect(signs(before, after)).toEqual([" a", "-b", "+B", " c", " d", " …", " f", " g", "-h", "+H", " i"]);
    expect(signs("same", "same")).toEqual([]);
  });

  test("of long texts without anything in common is the one, then the other", () => {
    const long = (word: string) => Array.from({ length: 1_500 }, (_, i) => `${word} ${i}`).join("\n");
    const found = signs(long("a"), long("b"));
    expect(found).toHaveLength(3_000);
    expect([found[0], found[1_499], found[1_500]]).toEqual(["-a 0", "-a 1499", "+b 0"]);
  });
});
