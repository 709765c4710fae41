import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ProtocolMethod } from "../../sdk/protocol/methods.ts";
import { BareSocket, connectParams, type Frame } from "../kernel/_ws.ts";
import { allMethods } from "../tools/protocol-tables.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

/** Every method of the protocol, asked in the built gateway with all bundled plugins: who may call it, and what it refuses. */

const scopes = ["read", "write", "approvals", "pairing", "admin"] as const;
type Scope = (typeof scopes)[number];
/** Scopes that each scope implies. */
const implies: Record<Scope, readonly Scope[]> = {
  read: ["read"],
  write: ["read", "write"],
  approvals: ["approvals"],
  pairing: ["pairing"],
  admin: scopes,
};
/** Thirty calls a minute and counted before validation: they get fewer wrong values. */
const budgeted =
  /^(config\.(set|apply|patch)|secrets\.reload|plugins\.(setEnabled|reload)|agents\.(create|update|delete)|cron\.(add|update|remove|run)|gateway\.restart\.request)$/;

let home: Home;
let gateway: Running;
let token: string;
const sockets = new Map<string, BareSocket>();

beforeAll(async () => {
  home = await createHome();
  expect(await svcCommand(home, ["setup", "--non-interactive"])).toMatchObject({ code: 0 });
  gateway = await startGateway(home);
  token = JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")).gateway.auth.token;
});
afterAll(async () => {
  for (const socket of sockets.values()) await socket.close();
  await gateway?.kill("SIGTERM");
  await home?.remove();
});

/** One connection per set of scopes. */
async function socketWith(...names: Scope[]): Promise<BareSocket> {
  const key = names.join();
  const known = sockets.get(key);
  if (known) return known;
  const socket = new BareSocket(`ws://127.0.0.1:${gateway.port}`);
  await socket.frame((f) => f.event === "connect.challenge");
  const res = await socket.request("connect", "connect", connectParams(token, { scopes: names.map((name) => `operator.${name}`) }));
  expect(res.ok, JSON.stringify(res.error)).toBe(true);
  sockets.set(key, socket);
  return socket;
}

let count = 0;
async function call(socket: BareSocket, method: string, params: unknown): Promise<Frame> {
  count += 1;
  return socket.request(`r${count}`, method, params);
}

const methods = Object.entries(allMethods) as Array<[ProtocolMethod, (typeof allMethods)[ProtocolMethod]]>;

test("a gateway with all bundled plugins lists exactly the methods of the table", async () => {
  const socket = await socketWith("admin");
  const hello = socket.frames.find((f) => f.id === "connect").payload;
  const named = new Set<string>(hello.features.methods);
  expect(methods.map(([name]) => name).filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !Object.hasOwn(allMethods, name))).toEqual([]);
});

describe("with params nobody takes", () => {
  // The check of scopes comes before that of params, so nothing runs and every pair can be tried.
  test.each(methods)("%s answers whoever may call it about its params, and everybody else about the scope", async (name, { scope }) => {
    for (const held of [[], ...scopes.map((one) => [one])] as Scope[][]) {
      const answer = await call(await socketWith(...held), name, { "no such param": 1 });
      const may = held.some((one) => implies[one].includes(scope as Scope));
      expect(answer, `${name} with [${held}]`).toMatchObject({ ok: false });
      if (may) {
        expect(answer.error, `${name} with [${held}]`).toMatchObject({ code: "INVALID_REQUEST" });
        expect(answer.error.message).toContain(`invalid ${name} params: `);
        expect(answer.error.message).toContain("unexpected property 'no such param'");
      } else {
        const missing = `operator.${scope}`;
        expect(answer.error, `${name} with [${held}]`).toMatchObject({
          code: "FORBIDDEN",
          message: `missing scope: ${missing}`,
          details: { code: "MISSING_SCOPE", missingScope: missing, requiredScopes: [missing] },
        });
      }
    }
  });
});

/** JSON type → a value of that type that no param means. */
const samples: Record<string, unknown> = {
  null: null,
  boolean: true,
  number: 0.5,
  string: "\u0000",
  array: [[]],
  object: { "no such key": {} },
};

type Node = { type?: string | string[]; anyOf?: Node[]; oneOf?: Node[]; allOf?: Node[]; enum?: unknown[]; const?: unknown } & Record<
  string,
  unknown
>;

/** Types a schema lets in; undefined = anything. */
function typesOf(node: Node): Set<string> | undefined {
  const parts = node.anyOf ?? node.oneOf;
  if (parts) {
    const all = parts.map(typesOf);
    return all.some((one) => one === undefined) ? undefined : new Set(all.flatMap((one) => [...(one ?? [])]));
  }
  if (node.enum) return new Set(node.enum.map((value) => (value === null ? "null" : typeof value)));
  if (node.const !== undefined) return new Set([typeof node.const]);
  if (node.type === undefined) return undefined;
  return new Set([node.type].flat().map((type) => (type === "integer" ? "number" : type)));
}

const wrong = methods.flatMap(([name, { params }]) => {
  const { properties = {} } = z.toJSONSchema(params, { io: "input", unrepresentable: "any" }) as { properties?: Record<string, Node> };
  return Object.entries(properties).flatMap(([param, node]) => {
    const allowed = typesOf(node);
    if (!allowed) return [];
    const values = Object.entries(samples).filter(([type]) => !allowed.has(type));
    return values.slice(0, budgeted.test(name) ? 2 : undefined).map(([type, value]) => ({ name, param, type, value }));
  });
});

test("there is a wrong value for nearly every param", () => {
  expect(wrong.length).toBeGreaterThan(300);
});

describe("a param of the wrong type is refused by its name", () => {
  test.each([...group(wrong)])("%s", async (name, cases) => {
    const socket = await socketWith("admin");
    for (const { param, type, value } of cases) {
      const answer = await call(socket, name, { [param]: value });
      expect(answer, `${param}: ${type}`).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
      expect(answer.error.message, `${param}: ${type}`).toContain(`invalid ${name} params: `);
      expect(answer.error.message, `${param}: ${type}`).toContain(`at ${param}`);
    }
  });
});

function group(cases: typeof wrong): Map<string, typeof wrong> {
  const groups = new Map<string, typeof wrong>();
  for (const one of cases) groups.set(one.name, [...(groups.get(one.name) ?? []), one]);
  return groups;
}
