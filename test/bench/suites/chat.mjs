import { Agent } from "node:http";
import { ask } from "../lib/chat.mjs";
import { makeHome, spawnBaselineRelay, spawnGateway } from "../lib/gateway.mjs";
import { alternate, percentile } from "../lib/stats.mjs";
import { spawnVendor } from "../lib/vendor.mjs";

const CALLERS = 8;
const SHORT = 20;

/** Turns over a model that answers at once, against a pipe for bytes to the same model. */
export async function run({ quick, row, note }) {
  const long = quick ? 5_000 : 20_000;
  const vendor = await spawnVendor();
  const models = [SHORT, long].map((words) => ({ id: `words-${words}` }));
  const home = makeHome({
    models: { providers: { lab: { baseUrl: vendor.baseUrl, apiKey: "bench-only", models } } },
    agents: { defaults: { model: { primary: `lab/words-${SHORT}` }, models: { [`lab/words-${long}`]: {} } } },
  });
  const ours = await spawnGateway(home);
  const relay = await spawnBaselineRelay(vendor.baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const asker = (server, words) => async () => {
    // The gateway's model is an agent; which model answers it is said beside it.
    const chosen = server === ours ? { ...server, headers: { ...server.headers, "x-svc-model": `lab/words-${words}` } } : server;
    const done = await ask(chosen, { agent, model: server === ours ? "svc" : `words-${words}` });
    if (done.words !== words) throw new Error(`${done.words} of ${words} words came`);
    return done;
  };
  try {
    await Promise.all([ours.ready(), relay.ready()]);
    const rounds = quick ? 2 : 5;
    for (let i = 0; i < 40; i += 1) await Promise.all([asker(ours, SHORT)(), asker(relay, SHORT)()]);
    await latency({ ours: asker(ours, SHORT), relay: asker(relay, SHORT), rounds, turns: quick ? 40 : 100, row, note });
    await rate({ ours: asker(ours, long), relay: asker(relay, long), rounds, words: long, row });
    await turns({ ours: asker(ours, SHORT), relay: asker(relay, SHORT), rounds, total: quick ? 200 : 800, row });
  } finally {
    agent.destroy();
    await Promise.all([ours.stop(), relay.stop(), vendor.stop()]);
    home.remove();
  }
}

/** One at a time: what the gateway adds to the way there and back. */
async function latency({ ours, relay, rounds, turns, row, note }) {
  const figures = (asker) => async () => {
    const seen = [];
    for (let i = 0; i < turns; i += 1) seen.push(await asker());
    return seen;
  };
  const seen = { ours: [], relay: [] };
  for (let i = 0; i < rounds; i += 1) {
    seen.ours.push(...(await figures(ours)()));
    seen.relay.push(...(await figures(relay)()));
  }
  const p = (all, key, at) =>
    percentile(
      all.map((one) => one[key]),
      at,
    );
  for (const [metric, key, target] of [
    ["chat, whole turn, added", "ms", 10],
    ["chat, first token, added", "firstMs", 8],
  ]) {
    row({
      id: "P11",
      metric,
      unit: "ms",
      target,
      targetOf: "ours",
      ours: p(seen.ours, key, 0.5) - p(seen.relay, key, 0.5),
      n: seen.ours.length,
    });
    note(`${metric}: p99 ${p(seen.ours, key, 0.99).toFixed(1)} ms in all, byte pipe ${p(seen.relay, key, 0.99).toFixed(1)} ms`);
  }
}

/** One long answer after another from all callers. */
async function rate({ ours, relay, rounds, words, row }) {
  const perSecond = (asker) => async () => {
    const begun = performance.now();
    await Promise.all(Array.from({ length: CALLERS }, asker));
    return (CALLERS * words * 1_000) / (performance.now() - begun);
  };
  await perSecond(ours)();
  await perSecond(relay)();
  const result = await alternate(rounds, perSecond(ours), perSecond(relay));
  row({ id: "P11", metric: `chat, ${CALLERS} callers, tokens`, unit: "/s", better: "higher", target: 60_000, targetOf: "ours", ...result });
}

async function turns({ ours, relay, rounds, total, row }) {
  const perSecond = (asker) => async () => {
    let begunTurns = 0;
    const begun = performance.now();
    const lane = async () => {
      while (begunTurns++ < total) await asker();
    };
    await Promise.all(Array.from({ length: CALLERS }, lane));
    return (total * 1_000) / (performance.now() - begun);
  };
  const result = await alternate(rounds, perSecond(ours), perSecond(relay));
  row({ id: "P11", metric: `chat, ${CALLERS} callers, turns`, unit: "/s", better: "higher", target: 150, targetOf: "ours", ...result });
}
