import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeHome, root, spawnGateway } from "../lib/gateway.mjs";
import { runToEnd } from "../lib/process.mjs";
import { alternate, median, seeded } from "../lib/stats.mjs";
import { spawnVendor } from "../lib/vendor.mjs";

/** Calls of one run: one a turn, and a run has 50 turns. */
const CALLS = 40;
const JOBS = 100;
/** Time between two times of all jobs, at least, and as a multiple of what their runs take. */
const MIN_PERIOD_MS = 4_000;
const PERIOD_RUNS = 8;
/** Longest start of the gateway. */
const START_MS = 10_000;
/** Longest step that the main thread may take. */
const step = { unit: "ms", target: 20, targetOf: "ours" };
const WINDOW = 200_000;

/** The run loop without a model to wait for, a conversation that has become too long, and jobs that are due together. */
export async function run({ quick, row, note }) {
  const vendor = await spawnVendor();
  const models = [{ id: "words-200", contextWindow: WINDOW }];
  const home = makeHome({
    models: { providers: { lab: { baseUrl: vendor.baseUrl, apiKey: "bench-only", models } } },
    agents: {
      defaults: { model: { primary: "script/instant" }, models: { "lab/words-200": {}, "script/instant": {} }, skipBootstrap: true },
    },
    plugins: { load: { paths: [join(root, "test/bench/agents-plugin/index.mjs")] } },
  });
  const withGateway = async (work) => {
    const server = await spawnGateway(home);
    try {
      await server.ready();
      const connection = await server.connect();
      await work(connection);
      await connection.close();
    } finally {
      await server.stop();
    }
  };
  let schedule;
  try {
    await withGateway(async (connection) => {
      await toolCalls({ connection, rounds: quick ? 5 : 15, row });
      await compactions({ connection, rounds: quick ? 3 : 7, row, note });
      const { ms } = await connection.request("load.runs", { count: JOBS, inFlight: 2, prefix: "first" });
      schedule = { everyMs: Math.max(MIN_PERIOD_MS, Math.round(ms * PERIOD_RUNS)), firstAtMs: Date.now() + START_MS };
      // A client may add 30 in a minute: they are put where the next start finds them.
      await connection.request("load.jobs", { count: JOBS, ...schedule });
    });
    await withGateway((connection) => jobsDueAtOnce({ connection, schedule, rounds: quick ? 2 : 3, row, note }));
  } finally {
    await vendor.stop();
    home.remove();
  }
}

/** Measures what the loop adds to each call, also against a loop that only stores call and result before it goes on. */
async function toolCalls({ connection, rounds, row }) {
  let session = 0;
  const ours = async () => {
    const sessionKey = `agent:main:calls-${session++}`;
    return (await connection.request("load.calls", { calls: CALLS, sessionKey })).ms / CALLS;
  };
  const bare = async () => (await connection.request("load.bare", { calls: CALLS })).ms / CALLS;
  for (let i = 0; i < 3; i += 1) await Promise.all([ours(), bare()]);
  const seen = await alternate(rounds, ours, bare);
  row({ id: "", metric: "run loop, added to each tool call", unit: "ms", target: 10, targetOf: "ours", ...added(seen) });
  const stored = await alternate(3, async () => median(await times(3, ours)), storedCalls);
  row({ id: "", metric: "tool call, to one that is stored", unit: "ms", ...stored });
  const longest = await times(rounds, () => watched(connection, ours));
  row({ id: "", metric: `run of ${CALLS} tool calls, longest step`, ours: median(longest), n: longest.length, ...step });
}

function added({ ours, baseline, n }) {
  return { ours: ours - baseline, n };
}

async function storedCalls() {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-agents-"));
  try {
    const script = join(root, "test/bench/baselines/tool-loop.mjs");
    const { output } = await runToEnd([script, join(folder, "state.sqlite"), String(CALLS), "5"]);
    return JSON.parse(output.trim().split("\n").at(-1)).ms;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A conversation as long as the window of its model: the next message makes a summary of it, by a vendor that answers at once. */
async function compactions({ connection, rounds, row, note }) {
  const seen = { long: [], short: [], steps: [] };
  for (let i = 0; i < rounds; i += 1) {
    seen.short.push(await compacted(connection, { name: `short-${i}`, tokens: 2_000 }));
    seen.long.push(await compacted(connection, { name: `long-${i}`, tokens: WINDOW }));
    seen.steps.push(await compacted(connection, { name: `watched-${i}`, tokens: WINDOW, isWatched: true }));
  }
  const count = { n: rounds };
  row({
    id: "",
    metric: "turn with a compaction of 200k tokens",
    unit: "ms",
    ours: median(seen.long),
    baseline: median(seen.short),
    ...count,
  });
  row({ id: "", metric: "compaction of 200k tokens, longest step", ours: median(seen.steps), ...count, ...step });
  note(`compaction of 200k tokens, longest step of all rounds: ${Math.max(...seen.steps).toFixed(1)} ms`);
}

/** @returns milliseconds of the next turn of a conversation of so many tokens, or of its longest step */
async function compacted(connection, { name, tokens, isWatched = false }) {
  const sessionKey = `agent:main:${name}`;
  await connection.request("sessions.create", { key: sessionKey });
  await connection.request("sessions.patch", { key: sessionKey, model: "lab/words-200" });
  await connection.request("load.fill", { sessionKey, rows: conversationOf(tokens) });
  const turn = async () => {
    const begun = performance.now();
    const { runId } = await connection.request("agent", { message: "Where were we?", sessionKey, idempotencyKey: name });
    const outcome = await connection.request("agent.wait", { runId, timeoutMs: 60_000 });
    if (outcome.status !== "ok") throw new Error(`${name} ended with ${JSON.stringify(outcome)}`);
    return performance.now() - begun;
  };
  const result = isWatched ? await watched(connection, turn) : await turn();
  const { messages } = await connection.request("chat.history", { sessionKey, limit: 50 });
  const isCompacted = messages.some((message) => message.__svc.kind === "compaction");
  if (isCompacted !== tokens > 100_000) throw new Error(`${name}: compacted is ${isCompacted}`);
  return result;
}

/** Turns of a question, a call, its result of 4 KB and an answer. A token is three bytes. */
function conversationOf(tokens) {
  const random = seeded(17);
  const words = (bytes) => {
    let text = "";
    while (text.length < bytes) text += `${Math.floor(random() * 1e9).toString(36)} `;
    return text;
  };
  const rows = [];
  const text = (bytes) => [{ type: "text", text: words(bytes) }];
  for (let i = 0, bytes = 0; bytes < tokens * 3; i += 1, bytes += 6_000) {
    const common = { runId: `past-${i}`, ts: 1_700_000_000_000 + i * 1_000 };
    rows.push(
      { ...common, id: `u${i}`, role: "user", content: text(600) },
      { ...common, id: `c${i}`, role: "assistant", content: [{ type: "toolCall", id: `call-${i}`, name: "note", arguments: { n: i } }] },
      { ...common, id: `r${i}`, role: "toolResult", toolCallId: `call-${i}`, toolName: "note", content: text(4_200) },
      { ...common, id: `a${i}`, role: "assistant", content: text(1_200), stopReason: "stop" },
    );
  }
  return rows;
}

/** Jobs of one moment, again and again, against the same runs begun by hand, as many at a time. */
async function jobsDueAtOnce({ connection, schedule: { everyMs, firstAtMs }, rounds, row, note }) {
  const started = [];
  const due = async () => {
    const at = firstAtMs + Math.max(0, Math.ceil((Date.now() - firstAtMs) / everyMs)) * everyMs;
    const { startedAt, endedAt } = await firing(connection, at);
    started.push(startedAt - at);
    return endedAt - at;
  };
  let round = 0;
  const bare = async () => (await connection.request("load.runs", { count: JOBS, inFlight: 2, prefix: `bare-${round++}` })).ms;
  await due();
  await bare();
  row({ id: "", metric: `${JOBS} jobs due at once, all done`, unit: "ms", ...(await alternate(rounds, due, bare)) });
  row({ id: "", metric: `${JOBS} jobs due at once, the last one starts`, unit: "ms", ours: median(started), n: started.length });
  const longest = await times(rounds, () => watched(connection, due));
  row({ id: "", metric: `${JOBS} jobs due at once, longest step`, ours: median(longest), n: longest.length, ...step });
  note(`${JOBS} jobs due at once, longest step of all rounds: ${Math.max(...longest).toFixed(1)} ms`);
}

/** @returns when the last job began that is due at this time, and when the last one ended */
function firing(connection, at) {
  return new Promise((resolve, reject) => {
    const count = { started: 0, finished: 0 };
    let startedAt;
    const late = setTimeout(() => end(reject, new Error(`only ${count.finished} of ${JOBS} jobs ended within 60 s`)), 60_000);
    const onMessage = (data) => {
      const { event, payload } = JSON.parse(data);
      // On a busy machine, jobs of the time before may still be at work.
      if (event !== "cron" || !(payload.action in count) || payload.job.state.lastSlotMs !== at) return;
      count[payload.action] += 1;
      if (count.started === JOBS) startedAt ??= Date.now();
      if (payload.action === "finished" && payload.status !== "ok") end(reject, new Error(`a job ended with ${payload.error}`));
      else if (count.finished === JOBS) end(resolve, { startedAt, endedAt: Date.now() });
    };
    const end = (settle, value) => {
      clearTimeout(late);
      connection.socket.off("message", onMessage);
      settle(value);
    };
    connection.socket.on("message", onMessage);
  });
}

/** @returns milliseconds of the longest step of the gateway's main thread meanwhile */
async function watched(connection, work) {
  await connection.request("load.watch");
  await work();
  return (await connection.request("load.watched")).longestMs;
}

async function times(count, work) {
  const seen = [];
  for (let i = 0; i < count; i += 1) seen.push(await work());
  return seen;
}
