import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LogRecord } from "../../kernel/process/logger.ts";

const note = "The spare key lies under the third stone.";
let gateway: TestGateway;
const lines = (message: string) => gateway.logs.filter((record) => record.message === message);
const fields = (message: string) => lines(message).map((record: LogRecord) => record.fields);
beforeAll(async () => {
  const call = { toolCalls: [{ name: "memory_search", args: { query: "spare key" } }] };
  gateway = await createTestGateway({
    plugins: ["store", "agents", "memory-core", "openai-http"],
    models: [fakeModel([call, "Under the stone."])],
    workspace: { "MEMORY.md": note },
    logLevel: "trace",
  });
  await gateway.rpc("memory.index", {});
});
afterAll(() => gateway.close());

test("at level trace one question leaves a line at every station, and no line holds a secret or a text", async () => {
  const body = JSON.stringify({ model: "svc", messages: [{ role: "user", content: "Where is my jewellery?" }] });
  const answer = await gateway.fetch("/v1/chat/completions?key=in-the-query", { method: "POST", body });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Under the stone." } }] });
  await gateway.reload({ logging: { level: "debug" } });
  await eventually(() => Promise.resolve(lines("http").length > 0));

  expect(fields("http")).toContainEqual(expect.objectContaining({ method: "POST", path: "/v1/chat/completions", status: 200 }));
  expect(fields("rpc")).toContainEqual(expect.objectContaining({ method: "memory.index", ok: true }));
  for (const message of ["run accepted", "run started", "run ended"]) expect(lines(message)).toHaveLength(1);
  expect(fields("model call").map((f) => f?.messages)).toEqual([1, 3]);
  expect(fields("model answered").map((f) => f?.toolCalls)).toEqual([1, 0]);
  expect(fields("tool called")).toMatchObject([{ tool: "memory_search", ok: true }]);
  expect(fields("memory searched")).toMatchObject([{ agentId: "main", hits: 1, queryChars: 9 }]);
  expect(fields("plugin state")).toContainEqual(expect.objectContaining({ plugin: "agents", to: "active" }));
  expect(lines("config reload planned")).toHaveLength(1);
  expect(fields("frame in")).toContainEqual(expect.objectContaining({ frame: expect.objectContaining({ method: "connect" }) }));
  expect(lines("frame out").length).toBeGreaterThan(2);

  const frames = new Set(["frame in", "frame out"]);
  expect(JSON.stringify(gateway.logs)).not.toContain(gateway.token);
  const rest = JSON.stringify(gateway.logs.filter(({ message }) => !frames.has(message)));
  for (const secret of ["jewellery", "third stone", "Under the stone", "in-the-query"]) expect(rest).not.toContain(secret);
});
