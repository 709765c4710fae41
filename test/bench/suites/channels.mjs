import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { makeHome, root, spawnGateway } from "../lib/gateway.mjs";
import { startIrcServer } from "../lib/irc-server.mjs";
import { memoryMb, startProcess } from "../lib/process.mjs";
import { alternate, median, percentile } from "../lib/stats.mjs";

const CONVERSATIONS = 1_000;
/** Links besides the first, by which the memory of one is measured. */
const MORE_ACCOUNTS = 20;

/** Messages of IRC to a model and back, against a bare client that keeps nothing. */
export async function run({ quick, row, note }) {
  const irc = await startIrcServer();
  const model = await startModel();
  const stop = [];
  const product = async (accounts) => {
    const home = makeHome(configOf(irc.port, model.url, accounts));
    const gateway = await spawnGateway(home);
    stop.push(() => gateway.stop().then(() => home.remove()));
    await linkedAs(
      irc,
      Array.from({ length: accounts }, (_, n) => `ours${n}`),
    );
    return gateway;
  };
  const bare = async (links) => {
    const child = startProcess([join(root, "test/bench/baselines/irc-client.mjs"), String(irc.port), model.url, String(links)]);
    stop.push(() => child.stop());
    await linkedAs(
      irc,
      Array.from({ length: links }, (_, n) => `bare${n}`),
    );
    return child;
  };
  const end = async () => {
    for (const one of stop.splice(0)) await one();
  };
  try {
    await product(1);
    await bare(1);
    await latency({ irc, model, turns: quick ? 30 : 200, row, note });
    await conversations({ irc, rounds: quick ? 1 : 3, row });
    await end();
    await memory({ product, bare, end, row });
  } finally {
    await end();
    irc.close();
    model.close();
  }
}

/** A line of the server until the model is asked, and the end of the model's answer until its bytes are at the server. */
async function latency({ irc, model, turns, row, note }) {
  const seen = { ours0: { in: [], out: [] }, bare0: { in: [], out: [] } };
  for (let n = -5; n < turns; n += 1) {
    for (const nick of ["ours0", "bare0"]) {
      const text = `${nick}-${n}`;
      const begun = performance.now();
      const { at } = await irc.ask(nick, "ada", text);
      // The first ones warm both up.
      if (n < 0) continue;
      seen[nick].in.push(model.askedAt - begun);
      seen[nick].out.push(at - model.endedAt);
    }
  }
  for (const [metric, key] of [
    ["channels, message in → run start", "in"],
    ["channels, answer end → bytes at the server", "out"],
  ]) {
    row({
      id: "",
      metric,
      unit: "ms",
      target: 20,
      targetOf: "ours",
      ours: median(seen.ours0[key]),
      baseline: median(seen.bare0[key]),
      n: turns,
    });
    note(
      `${metric}: p99 ${percentile(seen.ours0[key], 0.99).toFixed(1)} ms, bare client ${percentile(seen.bare0[key], 0.99).toFixed(1)} ms`,
    );
  }
}

/** All people write to one account at once. */
async function conversations({ irc, rounds, row }) {
  let round = 0;
  const perSecond = (nick) => async () => {
    round += 1;
    const begun = performance.now();
    await Promise.all(Array.from({ length: CONVERSATIONS }, (_, n) => irc.ask(nick, `p${round}x${n}`, "hello")));
    return (CONVERSATIONS * 1_000) / (performance.now() - begun);
  };
  const result = await alternate(rounds, perSecond("ours0"), perSecond("bare0"));
  row({
    id: "",
    metric: `channels, ${CONVERSATIONS} conversations on one account`,
    unit: "/s",
    better: "higher",
    target: 50,
    targetOf: "ours",
    ...result,
  });
}

async function memory({ product, bare, end, row }) {
  const perLink = async (start) => {
    const used = [];
    for (const links of [1, 1 + MORE_ACCOUNTS]) {
      const { pid } = await start(links);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      used.push(memoryMb(pid).pss);
      await end();
    }
    return ((used[1] - used[0]) * 1_024) / MORE_ACCOUNTS;
  };
  const ours = await perLink(product);
  const baseline = await perLink(bare);
  row({ id: "", metric: "channels, memory per account", unit: "KB", target: 1_024, targetOf: "ours", ours, baseline, n: 1 });
}

function configOf(port, url, accounts) {
  const link = {
    host: "127.0.0.1",
    port,
    tls: { enabled: false },
    burstLines: 1_000,
    lineIntervalMs: 0,
    dmPolicy: "open",
    allowFrom: ["*"],
  };
  const more = Object.fromEntries(Array.from({ length: accounts - 1 }, (_, n) => [`a${n + 1}`, { nick: `ours${n + 1}` }]));
  return {
    models: { providers: { lab: { baseUrl: url, apiKey: "bench-only", models: [{ id: "one" }] } } },
    agents: { defaults: { skipBootstrap: true, model: { primary: "lab/one" } } },
    session: { dmScope: "per-channel-peer" },
    messages: { inbound: { debounceMs: 0 } },
    channels: { irc: { ...link, nick: "ours0", ...(accounts > 1 ? { accounts: more } : {}) } },
  };
}

async function linkedAs(irc, nicks) {
  for (let left = 600; nicks.some((nick) => !irc.linked().includes(nick)); left -= 1) {
    if (left === 0) throw new Error(`not linked: ${nicks.filter((nick) => !irc.linked().includes(nick)).join(" ")}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A model that answers at once with one word, and knows when it was asked and when its answer ended. */
async function startModel() {
  const model = { askedAt: 0, endedAt: 0 };
  const server = createServer((req, res) => {
    model.askedAt = performance.now();
    req.resume();
    req.on("end", () => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (delta, finish) =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "one", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      res.end(`${chunk({ role: "assistant", content: "word" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`, () => {
        model.endedAt = performance.now();
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(model, { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() });
}
