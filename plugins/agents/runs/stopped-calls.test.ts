import { definePlugin } from "svc/sdk";
import { createTestGateway, eventually, fakeModel } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { atFailpoints } from "../../../test/fixtures/failpoints.ts";

test("a stop keeps the results that have come, and history and model read of the others that they may have had their effect", async () => {
  let begun = 0;
  const tools = definePlugin({
    id: "two-tools",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      const input = { type: "object", properties: {} };
      ctx.registerTool({ name: "quick", description: "Ends at once.", input, readOnly: true, run: () => "here it is" });
      ctx.registerTool({
        name: "held",
        description: "Ends when it is stopped.",
        input,
        readOnly: true,
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            begun += 1;
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          }),
      });
    },
  });
  const calls = ["quick", "held"].map((name) => ({ name, args: {} }));
  const model = fakeModel([{ toolCalls: calls }, "Hello."]);
  const gw = await createTestGateway({ plugins: ["store", "agents", tools], models: [model] });
  onTestFinished(() => gw.close());
  const ask = (message: string) => gw.service("agents@1").run({ message, trigger: "user", actor: { kind: "rpc", scopes: [] } });

  const run = await ask("go");
  await eventually(() => begun === 1);
  run.abort("rpc");
  await run.done;
  await (await ask("and now?")).done;

  const { messages } = await gw.rpc<{ messages: Array<{ role: string; toolName?: string }> }>("chat.history", { sessionKey: "main" });
  expect(messages.map(({ role, toolName }) => toolName ?? role)).toEqual(["user", "assistant", "quick", "held", "user", "assistant"]);
  const read = model.requests[1]?.messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
  expect(read).toEqual(["here it is", expect.stringContaining("may have had its effect")]);
});

test.each(["agents.after-calls", "agents.before-tool"])("a stop at %s begins no call", async (step) => {
  let ran = 0;
  const tools = definePlugin({
    id: "one-tool",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(ctx) {
      ctx.registerTool({ name: "send", description: "Sends.", input: { type: "object", properties: {} }, run: () => `sent ${++ran}` });
    },
  });
  const model = fakeModel([{ toolCalls: [{ name: "send", args: {} }] }, "Hello."]);
  const gw = await createTestGateway({ plugins: ["store", "agents", tools], models: [model] });
  onTestFinished(() => gw.close());
  const run = await gw.service("agents@1").run({ message: "go", trigger: "user", actor: { kind: "rpc", scopes: [] } });
  atFailpoints((name) => {
    if (name === step) run.abort("rpc");
  });

  expect(await run.done).toMatchObject({ status: "error" });
  expect(ran).toBe(0);
});
