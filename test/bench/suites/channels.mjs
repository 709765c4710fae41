import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { makeHome, root, spawnGateway } from "../lib/gateway.mjs";
import { startIrcServer } from "../lib/irc-server.mjs";
import { mqttLibrary, startMosquitto } from "../lib/mosquitto.mjs";
import { cpuMs, memoryMb, startProcess } from "../lib/process.mjs";
import { alternate, median, percentile } from "../lib/stats.mjs";

const CONVERSATIONS = 1_000;
/** Links besides the first, by which the memory of one is measured: enough that what a collection of garbage takes or leaves is little beside them. */
const MORE_ACCOUNTS = 100;

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
    const ours = { nick: "ours0", pid: (await product(1)).pid };
    const baseline = { nick: "bare0", pid: (await bare(1)).pid };
    // Both are warm before anything is counted: the first thousand people cost twice as much as later ones.
    for (const one of [ours, baseline]) await everybody(irc, one, "warm");
    await latency({ irc, model, turns: quick ? 30 : 300, row, note });
    await conversations({ irc, ours, baseline, rounds: quick ? 1 : 5, row });
    await end();
    await memory({ product, bare, end, rounds: quick ? 1 : 3, row });
    await withSameLibrary({ model, quick, row, note });
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

/** All people write to one account at once. @returns seconds, and CPU time of the process per message */
async function everybody(irc, { nick, pid }, round) {
  const [begun, before] = [performance.now(), cpuMs(pid)];
  await Promise.all(Array.from({ length: CONVERSATIONS }, (_, n) => irc.ask(nick, `p${round}x${n}`, "hello")));
  return { perSecond: (CONVERSATIONS * 1_000) / (performance.now() - begun), cpu: (cpuMs(pid) - before) / CONVERSATIONS };
}

async function conversations({ irc, ours, baseline, rounds, row }) {
  const seen = { ours: [], baseline: [] };
  for (let round = 0; round < rounds; round += 1) {
    seen.ours.push(await everybody(irc, ours, `${round}a`));
    seen.baseline.push(await everybody(irc, baseline, `${round}b`));
  }
  const medians = (key) => ({
    ours: median(seen.ours.map((one) => one[key])),
    baseline: median(seen.baseline.map((one) => one[key])),
    n: rounds,
  });
  const metric = `channels, ${CONVERSATIONS} conversations on one account`;
  row({ id: "", metric, unit: "/s", better: "higher", target: 50, targetOf: "ours", ...medians("perSecond") });
  row({ id: "", metric: `${metric}, CPU`, unit: "ms", ...medians("cpu") });
}

async function memory({ product, bare, end, rounds, row }) {
  const perLink = async (start) => {
    const used = [];
    for (const links of [1, 1 + MORE_ACCOUNTS]) {
      const { pid } = await start(links);
      used.push(await settledMemory(pid));
      await end();
    }
    return ((used[1] - used[0]) * 1_024) / MORE_ACCOUNTS;
  };
  const figures = await alternate(
    rounds,
    () => perLink(product),
    () => perLink(bare),
  );
  row({ id: "", metric: "channels, memory per account", unit: "KB", target: 1_024, targetOf: "ours", ...figures });
}

/** The least that a process at rest held within some seconds: what is above is garbage of its start. */
async function settledMemory(pid) {
  const seen = [];
  for (let n = 0; n < 12; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    seen.push(memoryMb(pid).pss);
  }
  return Math.min(...seen);
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

/** One conversation over MQTT, where the bare client is the same library at the same broker: what the gateway itself costs. */
async function withSameLibrary({ model, quick, row, note }) {
  const mqtt = mqttLibrary();
  const broker = mqtt && (await startMosquitto());
  if (!broker) return note("channels over MQTT: left out; needs mosquitto and npm ci --prefix plugins/channel-mqtt/vendor");
  const stop = [() => broker.stop()];
  try {
    const home = makeHome(configOfMqtt(broker.port, model.url));
    const gateway = await spawnGateway(home);
    stop.push(() => gateway.stop().then(() => home.remove()));
    const bare = startProcess([join(root, "test/bench/baselines/mqtt-client.mjs"), String(broker.port), model.url]);
    stop.push(() => bare.stop());
    const person = await mqtt.connectAsync({ host: "127.0.0.1", port: broker.port, protocolVersion: 5 });
    person.stream.setNoDelay(true);
    stop.push(() => person.endAsync(true));
    await person.subscribeAsync("+/person/out", { qos: 1 });
    const ask = asker(person);
    for (const side of ["ours", "bare"]) await untilAnswered(ask, side);
    await asked({ ask, model, pids: { ours: gateway.pid, bare: bare.pid }, turns: quick ? 30 : 300, row });
  } finally {
    for (const one of stop.toReversed()) await one();
  }
}

async function asked({ ask, model, pids, turns, row }) {
  const seen = { ours: { in: [], out: [], cpu: [] }, bare: { in: [], out: [], cpu: [] } };
  // In parts, so that what disturbs the machine disturbs both.
  for (let part = -1; part < 5; part += 1) {
    for (const side of ["ours", "bare"]) {
      const before = cpuMs(pids[side]);
      for (let n = 0; n < turns / 5; n += 1) {
        const begun = performance.now();
        const at = await ask(side);
        if (part < 0) continue;
        seen[side].in.push(model.askedAt - begun);
        seen[side].out.push(at - model.endedAt);
      }
      if (part >= 0) seen[side].cpu.push((cpuMs(pids[side]) - before) / (turns / 5));
    }
  }
  for (const [metric, key] of [
    ["channels over MQTT, message in → run start", "in"],
    ["channels over MQTT, answer end → at the receiver", "out"],
    ["channels over MQTT, CPU of a message", "cpu"],
  ])
    row({ id: "", metric, unit: "ms", ours: median(seen.ours[key]), baseline: median(seen.bare[key]), n: turns });
}

/** @returns what writes to one of the two and waits for the answer: the time at which it came */
function asker(person) {
  let answered = () => undefined;
  person.on("message", (topic) => answered(topic.split("/")[0], performance.now()));
  return (side, limitMs = 30_000) =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${side} did not answer over MQTT`)), limitMs);
      answered = (from, at) => {
        if (from !== side) return;
        clearTimeout(late);
        resolve(at);
      };
      person.publish(`${side}/person/in`, "hello", { qos: 1 });
    });
}

/** A broker keeps nothing for somebody who has not subscribed yet. */
async function untilAnswered(ask, side) {
  for (let tries = 0; tries < 60; tries += 1) if (await ask(side, 500).catch(() => false)) return;
  throw new Error(`${side} does not answer over MQTT`);
}

function configOfMqtt(port, url) {
  return {
    ...configOf(0, url, 1),
    channels: {
      mqtt: {
        host: "127.0.0.1",
        port,
        tls: { enabled: false },
        clientId: "ours",
        subscriptions: [{ topic: "ours/{sender}/in", answerTopic: "ours/{sender}/out" }],
        dmPolicy: "open",
        allowFrom: ["*"],
      },
    },
  };
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
