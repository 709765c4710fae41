import type { CliCommand, CliValues } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually } from "../../../test/fixtures/agents-gateway.ts";
import { runCommand } from "../../../test/fixtures/run-command.ts";
import agent from "./agent.ts";
import { converse } from "./chat.ts";
import models from "./models.ts";
import modelsChange from "./models-change.ts";
import sessions from "./sessions.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway();
});
afterAll(() => gw.close());

/** One command against the running gateway, as the program would call it. */
const run = (command: CliCommand, values: CliValues, options: { positionals?: string[]; tty?: boolean; signal?: AbortSignal } = {}) =>
  runCommand(() => gw.client({ caps: [] }), command, { values, ...options });

const command = (name: string): CliCommand => {
  const found = sessions.find((c) => c.path.join(" ") === `sessions ${name}`);
  if (!found) throw new Error(name);
  return found;
};

describe("svc chat", () => {
  async function* typed(...lines: string[]) {
    yield* lines;
  }
  const chat = (...lines: string[]) => {
    const values = { "session-key": "cli-chat" };
    const talk: CliCommand = {
      path: ["chat"],
      summary: "",
      run: (cli) => cli.withClient((client) => converse(cli, client, { lines: typed(...lines), values })),
    };
    return run(talk, values);
  };

  test("answers each line, and commands without a model", async () => {
    const { out, code } = await chat("hi", "", "/usage", "/models there are");
    expect(out).toMatch(/^Hello from the script\.\nModel: .*\nTokens of this conversation: .*\nCost: .*\nHello from the script\.\n$/);
    expect(code).toBe(0);
  });

  test("goes on after a message that failed", async () => {
    const { out, err, code } = await chat("/model script/refused", "hi", "/model default", "hi");
    expect(err).toContain("the request was refused");
    expect(out).toMatch(/Hello from the script\.\n$/);
    expect(code).toBe(0);
  });
});

describe("svc agent", () => {
  test("prints the final answer", async () => {
    expect(await run(agent, { message: "hi", "session-key": "cli" })).toEqual({ out: "Hello from the script.\n", err: "", code: 0 });
    expect((await gw.history("cli")).map((m) => m.text)).toEqual(["hi", "Hello from the script."]);
  });

  test("on a terminal writes the answer while it comes, with a line per tool", async () => {
    const { out, err } = await run(agent, { message: "hi", model: "script/tool", "session-key": "cli-tool" }, { tty: true });
    expect(out).toBe("Let me look.\n\nThe tool said: echo ping\n");
    expect(err).toBe("· say back\n");
  });

  test("with --json prints the final payload and nothing else", async () => {
    const { out } = await run(agent, { message: "hi", json: true, "session-key": "cli" }, { tty: true });
    expect(JSON.parse(out)).toMatchObject({ status: "ok", result: { payloads: [{ text: "Hello from the script." }] } });
  });

  test("passes agent, thinking and model on", async () => {
    const { out } = await run(agent, { message: "hi", agent: "echo", thinking: "high" });
    expect(JSON.parse(out)).toMatchObject({ thinking: "high", context: { agentId: "echo", sessionKey: "agent:echo:main" } });
  });

  test("asks for the answer on a channel, too", async () => {
    const asking = run(agent, { message: "hi", deliver: true, channel: "irc", to: "ana" });
    await expect(asking).rejects.toMatchObject({ details: { code: "NO_ROUTE" } });
  });

  test("needs a message", async () => {
    await expect(run(agent, {})).rejects.toMatchObject({ code: "usage" });
    await expect(run(agent, { message: " " })).rejects.toMatchObject({ code: "usage" });
  });

  test("fails with the run", async () => {
    await expect(run(agent, { message: "hi", model: "script/refused" })).rejects.toMatchObject({ message: "the request was refused" });
  });

  test("on a terminal says that it waits for a free place", async () => {
    const keys = [1, 2, 3, 4].map((n) => `agent:hang:full-${n}`);
    for (const sessionKey of keys) await gw.rpc("chat.send", { sessionKey, message: "hi", idempotencyKey: sessionKey });
    await gw.waiting(4);
    const waiting = run(agent, { message: "hi", "session-key": "late" }, { tty: true });
    await eventually(async () => expect(await gw.rpc("health", { probe: true })).toMatchObject({ queues: { queued: 1 } }));
    for (const sessionKey of keys) await gw.rpc("chat.abort", { sessionKey });

    expect(await waiting).toMatchObject({ err: "· waiting for a free place, number 1\n", code: 0 });
  });

  test("an interrupt stops the run", async () => {
    const stop = new AbortController();
    const asking = run(agent, { message: "hi", agent: "hang" }, { signal: stop.signal });
    asking.catch(() => undefined);
    await gw.waiting();

    stop.abort();

    await expect(asking).rejects.toMatchObject({ details: { code: "ABORTED" } });
  });
});

describe("svc sessions", () => {
  test("lists, shows, resets and deletes", async () => {
    await gw.ask({ sessionKey: "shown", message: "Where is it?", model: "script/tool" });

    const list = await run(command("list"), { search: "shown" });
    expect(list.out.split("\n")[1]).toMatch(/^agent:main:shown\s+done\s+\d{4}-\d\d-\d\d \d\d:\d\d\s+17 {2}Where is it\?$/);
    expect(JSON.parse((await run(command("list"), { search: "shown", json: true })).out)).toMatchObject({ totalCount: 1 });
    expect((await run(command("list"), { search: "no such thing" })).out).toBe("No sessions yet.\n");

    const shown = (await run(command("show"), {}, { positionals: ["shown"] })).out;
    expect(shown).toMatch(/user\nWhere is it\?\n[\s\S]*\[toolCall say_back\][\s\S]*tool say_back\necho ping/);

    expect((await run(command("reset"), {}, { positionals: ["shown"] })).out).toBe("agent:main:shown: new transcript.\n");
    expect(await run(command("delete"), {}, { positionals: ["shown"] })).toMatchObject({ code: 0, out: "agent:main:shown: deleted.\n" });
    expect(await run(command("delete"), {}, { positionals: ["shown"] })).toMatchObject({ code: 1 });
    await expect(run(command("show"), {}, { positionals: ["shown"] })).rejects.toMatchObject({ code: "unknown-session" });
    await expect(run(command("show"), {})).rejects.toMatchObject({ code: "usage" });
  });

  test("exports a header and every message, oldest first", async () => {
    await gw.ask({ sessionKey: "kept", message: "one" });
    await gw.ask({ sessionKey: "kept", message: "two" });

    const lines = (await run(command("export"), {}, { positionals: ["kept"] })).out
      .trim()
      .split("\n")
      .map((l) => JSON.parse(l));

    expect(lines[0]).toMatchObject({ type: "session", version: 1, key: "agent:main:kept", agentId: "main" });
    expect(lines.slice(1).map((l) => [l.type, l.role, l.content[0].text])).toEqual([
      ["message", "user", "one"],
      ["message", "assistant", "Hello from the script."],
      ["message", "user", "two"],
      ["message", "assistant", "Hello from the script."],
    ]);
  });
});

describe("svc models", () => {
  const models_ = (name: string, values: CliValues = {}, positionals: string[] = []) => {
    const found = [...models, ...modelsChange].find((c) => c.path.join(" ") === `models ${name}`);
    if (!found) throw new Error(name);
    return run(found, { url: "named", ...values }, { positionals });
  };

  test("lists models and shows how they are", async () => {
    expect((await models_("list", { provider: "script" })).out).toMatch(
      /^MODEL {2}CONTEXT {2}READS {2}NOTES\n[\s\S]*^script\/ok .*default$/m,
    );
    expect((await models_("list", { provider: "nobody" })).out).toBe(
      'No model of "nobody": no plugin offers such a provider; see svc models status.\n',
    );
    expect(JSON.parse((await models_("list", { json: true })).out)).toMatchObject({ ok: true, source: "gateway" });
    expect((await models_("status")).out).toMatch(/^ {2}main \(default\) +script\/ok +ready$/m);
    expect(JSON.parse((await models_("status", { json: true, probe: true })).out)).toMatchObject({
      providers: [{ id: "script", state: "ready" }],
    });
  });

  test("tests one: exit code 0 with an answer, 1 with a fault and its sentence", async () => {
    expect(await models_("test")).toMatchObject({
      ...{ code: 0, err: "" },
      out: expect.stringMatching(/^script\/ok: answered in \d+\.\d s, 12 tokens in, 5 out\n$/),
    });
    const { code, out, err } = await models_("test", {}, ["script/refused"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^script\/refused: no answer \([a-z ]+, \d+\.\d s\)\n {2}the request was refused\n$/);
    expect(JSON.parse((await models_("test", { json: true }, ["script/refused"])).out)).toMatchObject({ ok: false });
  });

  test("sets the default, and names the agents that keep their own", async () => {
    expect((await models_("set", { agent: "echo", fallback: "script/ok\nscript/tool" }, ["script/echo"])).out).toBe(
      "agents.list[id=echo].model: script/echo, then script/ok, then script/tool\n",
    );
    expect((await models_("set", { agent: "echo", "no-fallback": true }, ["script/echo"])).out).toBe(
      "agents.list[id=echo].model: script/echo\n",
    );
    expect((await models_("set", {}, ["script/ok"])).out).toMatch(
      /^agents\.defaults\.model: script\/ok\nAnswers: main\nKeep a model of their own: echo, /,
    );
    await expect(models_("set", { fallback: "script/ok", "no-fallback": true }, ["script/ok"])).rejects.toMatchObject({ code: "usage" });
    await expect(models_("set")).rejects.toMatchObject({ code: "usage" });
  });
});
