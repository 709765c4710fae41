import { definePlugin, type HttpReply } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const replies: Record<string, HttpReply> = {
  text: { body: "grüße" },
  json: { status: 201, headers: { "Content-Type": "application/json", "x-own": "yes" }, body: "{}" },
  bytes: { body: new Uint8Array([0, 255]) },
  empty: { body: "" },
  bodiless: { status: 204, body: "not sent" },
  broken: { headers: { "x-own": "two\nlines" }, body: "not sent" },
};

const clerk = definePlugin<unknown>({
  id: "clerk",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const handler = ({ rest }: { rest: string }) => replies[rest] as HttpReply;
    ctx.registerHttpRoute({ method: ["GET", "HEAD"], path: "/reply", match: "prefix", auth: "gateway", handler });
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [clerk] });
});
afterAll(() => gateway.close());

test.each([
  ["text", { status: 200, type: "text/plain; charset=UTF-8", length: "7", body: Buffer.from("grüße") }],
  ["json", { status: 201, type: "application/json", length: "2", body: Buffer.from("{}") }],
  ["bytes", { status: 200, type: null, length: "2", body: Buffer.from([0, 255]) }],
  ["empty", { status: 200, type: "text/plain; charset=UTF-8", length: "0", body: Buffer.from("") }],
])("a complete answer (%s) is sent whole, with its length and the headers of every answer", async (name, expected) => {
  const answer = await gateway.fetch(`/reply/${name}`);

  const { status, headers } = answer;
  const body = Buffer.from(await answer.arrayBuffer());
  expect({ status, type: headers.get("content-type"), length: headers.get("content-length"), body }).toEqual(expected);
  expect(answer.statusText).toBe(status === 201 ? "Created" : "OK");
  expect(headers.get("transfer-encoding")).toBeNull();
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("x-own")).toBe(name === "json" ? "yes" : null);
});

test("an answer without a body has none and no length, whatever its route gave", async () => {
  const answer = await gateway.fetch("/reply/bodiless");

  expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([204, null, ""]);
  expect(await (await gateway.fetch("/reply/text", { method: "HEAD" })).text()).toBe("");
});

test("a header that cannot be sent makes it a failure that the log names, and the gateway serves on", async () => {
  expect((await gateway.fetch("/reply/broken")).status).toBe(500);
  expect(gateway.logs.at(-1)).toMatchObject({ level: "error", message: "an answer could not be sent" });
  expect((await gateway.fetch("/reply/text")).status).toBe(200);
});
