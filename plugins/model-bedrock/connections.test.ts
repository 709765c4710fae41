import type { BedrockConnection, BedrockOptions, JsonObject } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";
import { beforeEach, expect, test } from "vitest";
import { quiet, settingsOf } from "../../test/fixtures/model-provider.ts";
import { type Connections, createConnections } from "./connections.ts";
import { bedrockVendor } from "./vendor.ts";

const never = new AbortController().signal;
let log: string[];
let opened: BedrockOptions[];
let connections: Connections;

/** A service whose connections say what becomes of them; a turn gives one event, or fails with its `error`. */
function service() {
  return {
    async open(options: BedrockOptions): Promise<BedrockConnection> {
      const id = opened.push(options);
      log.push(`open ${id}`);
      return {
        async *converse({ error }) {
          if (error !== undefined) throw new Error(String(error));
          yield { id };
        },
        close: async () => void log.push(`close ${id}`),
      };
    },
  };
}

beforeEach(() => {
  log = [];
  opened = [];
  connections = createConnections({ service: () => service() as never, logger: quiet });
});

const settings = (more: Partial<ProviderSettings> = {}) => settingsOf({ baseUrl: "https://bedrock.example", apiKey: "key" }, more);

async function ask(by: ProviderSettings, input: JsonObject = {}): Promise<JsonObject[]> {
  const events: JsonObject[] = [];
  for await (const event of connections.of(by).converse(input, never)) events.push(event);
  return events;
}

test("turns of the same settings share a connection; close ends it", async () => {
  const one = settings();
  expect([await ask(one), await ask(one)]).toEqual([[{ id: 1 }], [{ id: 1 }]]);
  await connections.close();
  expect(log).toEqual(["open 1", "close 1"]);
});

test("new settings get a new connection, and the old one ends with its last turn", async () => {
  const turn = connections.of(settings()).converse({}, never)[Symbol.asyncIterator]();
  await turn.next();
  await ask(settings());
  expect(log).toEqual(["open 1", "open 2"]);
  expect(await turn.next()).toMatchObject({ done: true });
  expect(log).toEqual(["open 1", "open 2", "close 1"]);
});

test("an idle one ends when the next is open, since equal ones share a thread", async () => {
  await ask(settings());
  await ask(settings());
  expect(log).toEqual(["open 1", "open 2", "close 1"]);
});

test("after a failure the next turn gets a new connection: the plugin behind it may be another one", async () => {
  const one = settings();
  await expect(ask(one, { error: "gone" })).rejects.toThrow("gone");
  expect(await ask(one)).toEqual([{ id: 2 }]);
});

test("one that cannot be opened is tried again", async () => {
  let tries = 0;
  connections = createConnections({
    service: () => (tries++ === 0 ? { open: () => Promise.reject(new Error("nobody provides it")) } : service()) as never,
    logger: quiet,
  });
  const one = settings();
  await expect(ask(one)).rejects.toThrow("nobody provides it");
  expect(await ask(one)).toEqual([{ id: 1 }]);
  await connections.close();
});

test("what is opened: an address of its own, the key, headers, and more silence than the run allows", async () => {
  const vendor = bedrockVendor(() => undefined);
  const { apiKey: _none, ...keyless } = settings({ headers: { authorization: "Bearer  shown", "x-team": "t" } });
  await ask(settings({ timeoutMs: 1_000 }));
  await ask({ ...keyless, id: "b" });
  await ask({ ...keyless, id: "c", headers: { authorization: "Basic x" }, vendor, baseUrl: vendor.baseUrl as string });
  const common = { logger: quiet, headers: {} };
  expect(opened).toEqual([
    { ...common, baseUrl: "https://bedrock.example", apiKey: "key", silenceMs: 61_000 },
    { ...common, baseUrl: "https://bedrock.example", apiKey: "shown", headers: { "x-team": "t" }, silenceMs: 90_000 },
    { ...common, silenceMs: 90_000 },
  ]);
});
