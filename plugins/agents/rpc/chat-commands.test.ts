import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway } from "../../../test/fixtures/agents-gateway.ts";

/** Commands in the web chat: what they answer stands in the session. */

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway();
});
afterAll(() => gw.close());

let count = 0;
const send = (message: string, idempotencyKey = `command-${++count}`) =>
  gw.rpc("chat.send", { sessionKey: "commands", message, idempotencyKey });
const last = async () => (await gw.history("commands")).at(-1)?.text;

test.each([
  ["/help", "/model <name> or default"],
  ["/status", "Agent: Main"],
  ["/model", "Model: script/ok"],
  ["/model script/tool", "The model of this conversation is script/tool."],
  ["/think high", "Thinking in this conversation: high."],
  ["/usage", "Tokens of this conversation: 0 in, 0 out; 0 in the last request and its answer"],
  ["/tools", "Tools in this conversation: "],
  ["/compact", "This conversation is short enough already."],
  ["/model default", "The model is the agent's own again."],
])("%s is answered by a note, and calls no model", async (message, answer) => {
  expect(await send(message)).toMatchObject({ status: "ok" });
  expect(await last()).toContain(answer);
});

test("a command that comes again under its key is answered once", async () => {
  const before = (await gw.history("commands")).length;
  await send("/usage", "again");
  await send("/usage", "again");
  expect(await gw.history("commands")).toHaveLength(before + 1);
});

test("/compact needs an administrator, as sessions.compact does; the others do not", async () => {
  const writer = await gw.client({ scopes: ["operator.read", "operator.write"] });
  const asked = (message: string) => writer.request("chat.send", { sessionKey: "commands", message, idempotencyKey: `weak-${message}` });
  await expect(asked("/compact")).rejects.toThrow("operator.admin");
  expect(await asked("/usage")).toMatchObject({ status: "ok" });
});

test("a word that only begins like a command is for the agent", async () => {
  expect(await send("/models there are")).toMatchObject({ status: "started" });
});

test("commands.list names them with what stands behind the name and the scope that they need, and /help has the same lines", async () => {
  const { commands } = await gw.rpc<{ commands: Array<{ name: string; arguments?: string; about: string }> }>("commands.list", {});
  expect(commands).toContainEqual({
    name: "/compact",
    arguments: "[what matters]",
    about: "replace older messages by a summary",
    scope: "admin",
  });
  expect(commands[0]).toEqual({ name: "/new", about: "begin a new conversation", scope: "admin" });
  await send("/help");
  const help = await last();
  const lines = commands.filter(({ name }) => !["/new", "/reset", "/help"].includes(name));
  for (const { name, arguments: behind, about } of lines) expect(help).toContain(`${[name, behind].filter(Boolean).join(" ")}: ${about}`);
});
