import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { embeddingContext } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ClientThreads, createClientThreads } from "./client-threads.ts";

let dir: string;
let threads: ClientThreads;

/** A thread that tells its number, dies of the text "die" and says nothing to "wait"; a conversation gets as many events as it asks for, then its end if it wants one. */
const thread = `
import { parentPort, threadId } from "node:worker_threads";
parentPort.on("message", ({ id, embed, converse, abort }) => {
  if (abort) return parentPort.postMessage({ warning: "aborted " + abort });
  for (let n = 0; n < converse?.events; n++) parentPort.postMessage({ id, event: { n } });
  if (converse) return converse.end && parentPort.postMessage({ id, ...converse.end });
  if (embed?.texts[0] === "die") throw new Error("out of luck");
  if (embed?.texts[0] === "wait") return;
  parentPort.postMessage({ warning: "odd keys" });
  if (embed) parentPort.postMessage({ id, reply: { vectors: [], tokens: threadId } });
});`;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-bedrock-"));
  const file = join(dir, "thread.mjs");
  await writeFile(file, thread);
  threads = createClientThreads(pathToFileURL(file));
});

afterEach(async () => {
  await threads.close();
  await rm(dir, { recursive: true });
});

const never = new AbortController().signal;
const say = (text: string) => ({ modelId: "m", family: "titan-v1" as const, purpose: "query" as const, dims: undefined, texts: [text] });
const lease = (region = "us-east-1", warnings: string[] = []) => {
  const logger = { ...embeddingContext({}).logger, warn: (line: string) => void warnings.push(line) };
  return threads.lease({
    settings: { region, headers: {} },
    env: {},
    request: async () => Promise.reject(new Error("nobody asks")),
    logger,
  });
};

test("equal settings share a thread, others have their own", async () => {
  const [one, same, other] = [lease(), lease(), lease("eu-west-1")];
  const numbers = await Promise.all([one, same, other].map(async (held) => (await held.embed(say("hi"), never)).tokens));
  expect(numbers[0]).toBe(numbers[1]);
  expect(numbers[2]).not.toBe(numbers[0]);
});

test("a thread ends with its last user, and a later one gets a new thread", async () => {
  const [one, same] = [lease(), lease()];
  const { tokens: first } = await one.embed(say("hi"), never);
  await one.release();
  await one.release();
  expect((await same.embed(say("hi"), never)).tokens).toBe(first);
  await same.release();
  await expect(same.embed(say("hi"), never)).rejects.toMatchObject({ failure: { message: "the provider was closed" } });
  expect((await lease().embed(say("hi"), never)).tokens).not.toBe(first);
});

test("a thread that dies gives up its calls with the reason, and the next call starts another", async () => {
  const held = lease();
  const waiting = expect(held.embed(say("wait"), never)).rejects.toMatchObject({
    failure: { message: expect.stringContaining("out of luck") },
  });
  await expect(held.embed(say("die"), never)).rejects.toMatchObject({
    failure: { message: "the thread of the AWS client: out of luck" },
  });
  await waiting;
  await expect(held.embed(say("hi"), never)).resolves.toMatchObject({ vectors: [] });
});

test("a call ends with its signal, and all of them with the end of the threads", async () => {
  const held = lease();
  await expect(held.embed(say("hi"), AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
  const stop = new AbortController();
  const stopped = expect(held.embed(say("wait"), stop.signal)).rejects.toMatchObject({ name: "AbortError" });
  stop.abort();
  await stopped;
  const closed = expect(held.resolveCredentials(never)).rejects.toMatchObject({ failure: { message: "the provider was closed" } });
  await threads.close();
  await closed;
});

test("what the vendor's package warns of stands in the log", async () => {
  const warnings: string[] = [];
  await lease("us-east-1", warnings).embed(say("hi"), never);
  expect(warnings).toEqual(["bedrock: odd keys"]);
});

describe("a conversation", () => {
  const end = { reply: { resolved: true } };
  const read = async (events: AsyncIterable<object>, seen: object[] = []) => {
    for await (const event of events) seen.push(event);
    return seen;
  };

  test("gives its events in order, then ends", async () => {
    expect(await read(lease().converse({ events: 3, end }, never))).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  test("that fails gives what came before, then the reason", async () => {
    const seen: object[] = [];
    const failure = { name: "ThrottlingException", message: "slow down" };
    await expect(read(lease().converse({ events: 2, end: { failure } }, never), seen)).rejects.toMatchObject({ failure });
    expect(seen).toHaveLength(2);
  });

  test("ends with its signal, with the end of its reader and with that of the threads, and the thread hears of it", async () => {
    const warnings: string[] = [];
    const held = lease("us-east-1", warnings);
    const stop = new AbortController();
    const stopped = expect(read(held.converse({ events: 1 }, stop.signal))).rejects.toMatchObject({ name: "AbortError" });
    stop.abort();
    await stopped;
    for await (const _ of held.converse({ events: 1 }, never)) break;
    await expect.poll(() => warnings).toEqual(["bedrock: aborted 1", "bedrock: aborted 2"]);
    await expect(read(held.converse({ events: 1 }, AbortSignal.abort()))).rejects.toMatchObject({ name: "AbortError" });
    const closed = expect(read(held.converse({ events: 1 }, never))).rejects.toMatchObject({
      failure: { message: "the provider was closed" },
    });
    await threads.close();
    await closed;
  });

  test("whose reader is 10,000 events behind fails", async () => {
    const warnings: string[] = [];
    const events = lease("us-east-1", warnings).converse({ events: 10_002, end }, never)[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { n: 0 } });
    await expect.poll(() => warnings).toEqual(["bedrock: aborted 1"]);
    const rest = { [Symbol.asyncIterator]: () => events };
    await expect(read(rest)).rejects.toMatchObject({ failure: { message: expect.stringContaining("wait to be read") } });
  });
});
