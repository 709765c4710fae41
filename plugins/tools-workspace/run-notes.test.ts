import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelRequest, RunRequest } from "svc/sdk";
import { createTestGateway, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

/** Notes that an agent writes in a run, and the searches that follow: real tools, real files, a real index. */

let respond: (req: ModelRequest) => FakeTurn;
/** Reads 32,000 tokens, a quarter of which is kept free for the answer. */
const model = fakeModel(
  Array.from({ length: 50 }, () => (req: ModelRequest) => respond(req)),
  { info: { contextWindow: 32_000 } },
);
let gw: TestGateway;
const zone = process.env.TZ;
/** Half an hour after midnight in Berlin, and not in Greenwich. */
const clock = { now: () => Date.parse("2026-11-28T23:30:00Z") + Math.round(performance.now()), monotonic: () => performance.now() };

beforeAll(async () => {
  process.env.TZ = "Europe/Berlin";
  gw = await createTestGateway({
    clock,
    plugins: ["store", "agents", "memory-core", "tools-workspace"],
    models: [model],
    // An index without a note would be filled by the search itself.
    workspace: { "memory/boats.md": "# Boats\n\nThe boat is blue.\n" },
    config: { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0m" } } } },
  });
});
beforeEach(() => {
  model.requests.length = 0;
});
afterAll(async () => {
  await gw.close();
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

async function ask(sessionKey: string, message: string, more: Partial<RunRequest> = {}) {
  const actor = { kind: "rpc" as const, scopes: [] };
  return (await gw.service("agents@1").run({ message, sessionKey: `agent:main:${sessionKey}`, trigger: "user", actor, ...more })).done;
}

const call = (name: string, args: object): FakeTurn => ({ toolCalls: [{ name, args }] });
/** Result that the model reads in a request, as text. */
function resultIn(req: ModelRequest | undefined): string {
  const last = req?.messages.at(-1);
  return last?.role === "tool" ? last.text : "";
}

test("the turn after a note finds it: written, searched for and answered in one run", async () => {
  const turns = [
    call("memory_search", { query: "dentist" }),
    call("memory_append", { text: "Ada's dentist is Dr Kane.", file: "memory/people.md" }),
    call("memory_search", { query: "dentist" }),
    "It is Dr Kane.",
  ];
  respond = () => turns.shift() ?? "over";
  // Everything before it is indexed: the note is news.
  await gw.service("memory@1").sync("main");
  expect(await ask("remember", "My dentist is Dr Kane. Who is my dentist?")).toMatchObject({ status: "ok", text: "It is Dr Kane." });

  const none = expect.stringContaining('"results":[]');
  expect(model.requests.map(resultIn)).toEqual(["", none, "Noted in memory/people.md, line 1", expect.stringContaining("Dr Kane")]);
  expect(resultIn(model.requests[3])).toContain("memory/people.md");
});

test("a note of the day that is written before older messages go is on disk, and the next search finds it", async () => {
  let path = "";
  respond = (req) => {
    const asked = JSON.stringify(req.messages.at(-1));
    if (req.system.startsWith("You shorten a conversation")) return "Tea was talked about.";
    const day = /Write lasting facts[^`]*`(memory\/[\d-]+\.md)`/.exec(asked)?.[1];
    if (day === undefined) return resultIn(req) === "" ? call("memory_search", { query: "oolong" }) : "It was oolong.";
    path = day;
    return { text: "NO_REPLY", ...(call("write", { path, content: "# Tea\n\nAda drinks oolong.\n" }) as object) };
  };
  const history = Array.from({ length: 28 }, (_, i) => ({
    role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: [{ type: "text" as const, text: `${i} ${"word ".repeat(600)}` }],
  }));
  expect(await ask("flushed", "Which tea was it?", { history })).toMatchObject({ status: "ok", text: "It was oolong." });

  expect(path).toBe("memory/2026-11-29.md");
  expect(await readFile(join(gw.workspace, path), "utf8")).toBe("# Tea\n\nAda drinks oolong.\n");
  expect(resultIn(model.requests.at(-1))).toContain("Ada drinks oolong.");
  expect(resultIn(model.requests.at(-1))).toContain(path);
});
