import { randomUUID } from "node:crypto";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { startFakeOpenAi } from "../fakes/openai-server.ts";
import { CheckedSocket } from "./_frames.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

/** The question's one answer stands in the example workspace. */
const question = "Where is the router?";
const citation = /Source: (memory\/[\w./-]+\.md|MEMORY\.md)#L\d+(-L\d+)?/;

let home: Home;
let gateway: Running;
let token: string;

beforeAll(async () => {
  home = await createHome();
  const setup = await svcCommand(home, ["setup", "--non-interactive", "--if-missing"]);
  expect(setup, setup.stderr).toMatchObject({ code: 0 });
  token = (JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")) as { gateway: { auth: { token: string } } }).gateway.auth
    .token;
  gateway = await startGateway(home);
});
afterAll(async () => {
  await gateway?.kill("SIGTERM");
  await home?.remove();
});

describe("one question, answered from the notes with file and lines", () => {
  test("by svc agent --message", async () => {
    const answer = await svcCommand(home, ["agent", "--message", question], { SVC_GATEWAY_PORT: String(gateway.port) });
    expect(answer, answer.stderr).toMatchObject({ code: 0 });
    expect(answer.stdout).toMatch(citation);
    await expectCited(answer.stdout);
  });

  test("by curl's request: /v1/chat/completions with stream:true", async () => {
    const res = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "svc", stream: true, messages: [{ role: "user", content: question }] }),
    });
    const body = await res.text();
    expect(res.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(body.trimEnd().endsWith("data: [DONE]")).toBe(true);
    const text = body
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => (JSON.parse(line.slice(6)) as { choices: Array<{ delta: { content?: string } }> }).choices[0]?.delta.content ?? "")
      .join("");
    await expectCited(text);
  });

  test("by a bare ws client with agent; the transcript shows all of it", async () => {
    const frames = await bareRun("bare-1", question);
    const final = frames.find((f) => f.id === "A" && f.payload?.status === "ok");
    await expectCited(final.payload.result.payloads[0].text);
    expect(frames.filter((f) => f.event === "agent").at(-1).payload.data.phase).toBe("end");
    // The index reports its progress to everybody, whenever it makes some.
    expect(frames.filter(({ event }) => event !== "memory.progress").at(-1)).toBe(final);

    const history = await request("chat.history", { sessionKey: "main" });
    const roles = history.messages
      .filter((m: { __svc: { runId?: string } }) => m.__svc.runId === "bare-1")
      .map((m: { role: string }) => m.role);
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(JSON.stringify(history.messages)).toContain("memory_search");
  });
});

test("a note edited while the gateway runs is found without a restart", async () => {
  const word = `quokka${randomUUID().slice(0, 6)}`;
  await appendFile(join(home.stateDir, "workspace", "MEMORY.md"), `\nThe spare key hangs behind the ${word} picture.\n`);
  const found = await eventually(async () => (await request("memory.search", { query: word })).results[0]);
  expect(found.path).toBe("MEMORY.md");
});

test("a second start on the same port says so and exits 78; the first goes on", async () => {
  const second = await svcCommand(home, ["gateway"], { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(second.code).toBe(78);
  expect(second.stderr).toContain("another gateway instance is already listening");
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
});

test("kill -9 in a streaming run: every acknowledged message is there once, the run is interrupted, its key starts nothing", async () => {
  const model = await useSlowModel();
  const key = `killed-${randomUUID()}`;
  await killInRun(key, model);
  const size = (await stat(join(home.stateDir, "state.sqlite"))).size;
  expect(size).toBeGreaterThan(0);
  gateway = await startGateway(home);

  const search = await request("memory.search", { query: "router" });
  expect(search.results.length).toBeGreaterThan(0);
  const history = await request("chat.history", { sessionKey: "main" });
  const mine = history.messages.filter((m: { role: string; __svc: { runId?: string } }) => m.__svc.runId === key && m.role === "user");
  expect(mine).toHaveLength(1);
  expect(await request("agent.wait", { runId: key })).toMatchObject({ status: "error" });

  const before = history.totalMessages;
  const frames = await bareRun(key, question, model);
  const replay = frames.find((f) => f.id === "A");
  expect(replay).toMatchObject({ ok: false, payload: { runId: key, status: "error" }, error: { details: { code: "INTERRUPTED" } } });
  expect((await request("chat.history", { sessionKey: "main" })).totalMessages).toBe(before);
});

test("SIGTERM: the shutdown event comes before the close frame, exit code 0", async () => {
  const socket = await connect();
  const seen: string[] = [];
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString());
    if (frame.event === "shutdown") seen.push("shutdown");
  });
  const closed = new Promise<void>((resolve) => {
    socket.on("close", (code: number) => {
      seen.push(`close ${code}`);
      resolve();
    });
  });
  expect(await gateway.kill("SIGTERM")).toBe(0);
  await closed;
  expect(seen).toEqual(["shutdown", "close 1001"]);
});

// biome-ignore lint/suspicious/noExplicitAny: frames of a bare client are looked at as they come
type Frame = any;

async function expectCited(text: string): Promise<void> {
  const match = /Source: ([\w./-]+\.md)#L(\d+)(?:-L(\d+))?/.exec(text);
  if (!match) throw new Error(`no citation in: ${text}`);
  const lines = (await readFile(join(home.stateDir, "workspace", match[1] as string), "utf8")).split("\n");
  const passage = lines.slice(Number(match[2]) - 1, Number(match[3] ?? match[2])).join("\n");
  expect(passage.toLowerCase()).toContain("router");
}

/** The handshake as a stranger would write it, without our client. */
async function connect(): Promise<CheckedSocket> {
  const socket = new CheckedSocket(gateway.url.replace("http", "ws"));
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.on("message", function onMessage(data: Buffer) {
      const frame: Frame = JSON.parse(data.toString());
      if (frame.event === "connect.challenge") {
        const client = { id: "gateway-client", version: "1", platform: "test", mode: "backend" };
        const scopes = ["operator.read", "operator.write"];
        const params = { minProtocol: 4, maxProtocol: 4, client, scopes, caps: ["tool-events"], auth: { token } };
        socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
      } else if (frame.id === "1") {
        socket.off("message", onMessage);
        frame.ok ? resolve() : reject(new Error(frame.error.message));
      }
    });
  });
  return socket;
}

async function request(method: string, params: Record<string, unknown>): Promise<Frame> {
  const socket = await connect();
  const answer = new Promise<Frame>((resolve) => {
    socket.on("message", (data: Buffer) => {
      const frame: Frame = JSON.parse(data.toString());
      if (frame.id === "R") resolve(frame);
    });
  });
  socket.send(JSON.stringify({ type: "req", id: "R", method, params }));
  const frame = await answer;
  socket.close();
  if (!frame.ok) throw new Error(frame.error.message);
  return frame.payload;
}

/** All frames of one `agent` call until its final answer. */
async function bareRun(idempotencyKey: string, message: string, model?: string): Promise<Frame[]> {
  const socket = await connect();
  const frames: Frame[] = [];
  const done = new Promise<void>((resolve) => {
    socket.on("message", (data: Buffer) => {
      const frame: Frame = JSON.parse(data.toString());
      frames.push(frame);
      if (frame.id === "A" && frame.payload?.status !== "accepted") resolve();
    });
  });
  socket.send(JSON.stringify({ type: "req", id: "A", method: "agent", params: { message, idempotencyKey, model } }));
  await done;
  socket.close();
  return frames;
}

/**
 * Starts the gateway anew, with one more model: its answer takes 40 s, so that a kill finds it unfinished on the busiest machine.
 * @returns name of the model
 */
async function useSlowModel(): Promise<string> {
  const vendor = await startFakeOpenAi();
  onTestFinished(() => vendor.close());
  await gateway.kill("SIGTERM");
  const path = join(home.stateDir, "svc.json");
  const config = JSON.parse(await readFile(path, "utf8"));
  const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "slow-drip" }] };
  await writeFile(path, JSON.stringify({ ...config, models: { ...config.models, providers: { ...config.models?.providers, lab } } }));
  gateway = await startGateway(home);
  return "lab/slow-drip";
}

/** Starts a run and kills the gateway at its first streamed text. */
async function killInRun(idempotencyKey: string, model: string): Promise<void> {
  const socket = await connect();
  socket.on("error", () => undefined);
  const answers: Frame[] = [];
  const streaming = new Promise<void>((resolve) => {
    socket.on("message", (data: Buffer) => {
      const frame: Frame = JSON.parse(data.toString());
      if (frame.id === "A") answers.push(frame);
      if (frame.id === "A" && frame.payload?.status !== "accepted") resolve();
      if (frame.event === "agent" && frame.payload.runId === idempotencyKey && frame.payload.stream === "assistant") resolve();
    });
  });
  socket.send(JSON.stringify({ type: "req", id: "A", method: "agent", params: { message: question, idempotencyKey, model } }));
  await streaming;
  await gateway.kill("SIGKILL");
  expect(answers, "the run had not ended").toMatchObject([{ ok: true, payload: { runId: idempotencyKey, status: "accepted" } }]);
}
