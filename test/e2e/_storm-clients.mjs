/**
 * Many clients of a gateway, in a process of their own: the load must not cost the gateway's or the test's time. Started by `_storm.ts`, which
 * sends `{ id, name, args }` and gets `{ id, value }` or `{ id, error }`.
 */
import WebSocket from "ws";

const clients = [];
const closes = new Map();
let acknowledgements = 0;

/** Numbers from a seed (mulberry32). */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** One client and what it has seen: whether its numbers had a gap, its last event, how it ended. */
class Client {
  constructor(index, setup) {
    this.index = index;
    this.setup = setup;
    this.reset();
  }

  reset() {
    Object.assign(this, { seq: 0, gaps: 0, events: 0, lastEvent: "", closed: "", isReady: false, nextId: 0, waiting: new Map() });
  }

  /** Resolves with hello-ok; without a handshake once the socket is open. */
  open() {
    const { url, addresses, token, silent } = this.setup;
    this.reset();
    this.ws = new WebSocket(url, { perMessageDeflate: false, localAddress: addresses[this.index % addresses.length] });
    return new Promise((resolve, reject) => {
      this.ws.on("error", reject);
      this.ws.on("open", () => silent && resolve());
      this.ws.on("close", (code, reason) => {
        this.closed = `${code} ${reason}`.trim();
        closes.set(this.closed, (closes.get(this.closed) ?? 0) + 1);
        for (const { fail } of this.waiting.values()) fail(new Error(this.closed));
        reject(new Error(this.closed));
      });
      this.ws.on("message", (data) => {
        const text = data.toString();
        if (text.startsWith('{"type":"event"'))
          this.#event(text, () => this.request("connect", connectParams(token)).then(resolve, reject));
        else this.#answer(JSON.parse(text));
      });
    }).then(() => {
      this.isReady = true;
    });
  }

  #event(text, connect) {
    const event = /"event":"([^"]+)"/.exec(text)[1];
    if (event === "connect.challenge") return this.setup.silent ? undefined : connect();
    const seq = Number(text.slice(text.lastIndexOf('"seq":') + 6, -1));
    if (seq !== this.seq + 1) this.gaps += 1;
    this.seq = seq;
    this.events += 1;
    this.lastEvent = event;
  }

  #answer(frame) {
    const entry = this.waiting.get(frame.id);
    this.waiting.delete(frame.id);
    if (frame.ok) entry?.done(frame.payload);
    else entry?.fail(new Error(frame.error?.message));
  }

  request(method, params = {}) {
    this.nextId += 1;
    const id = String(this.nextId);
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.ws.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }
}

function connectParams(token) {
  return {
    minProtocol: 4,
    maxProtocol: 4,
    client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
    scopes: ["operator.read", "operator.write"],
    auth: { token },
  };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** So many at a time; what fails is tried again after a full-jitter wait, as clients are told to. */
async function openAll(list, { concurrency, random }) {
  let next = 0;
  let attempts = 0;
  const lane = async () => {
    while (next < list.length) {
      const client = list[next];
      next += 1;
      for (let n = 0; ; n += 1) {
        attempts += 1;
        const isOpen = await client.open().then(
          () => true,
          () => false,
        );
        if (isOpen || client.setup.silent) break;
        await pause(random() * Math.min(30_000, 1_000 * 2 ** n));
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return attempts;
}

const commands = {
  async open({ count, concurrency = 32, seed = 1, ...setup }) {
    const made = Array.from({ length: count }, (_, i) => new Client(clients.length + i, { addresses: ["127.0.0.1"], ...setup }));
    clients.push(...made);
    return { attempts: await openAll(made, { concurrency, random: seeded(seed) }) };
  },
  /** Everybody goes without a word and comes back within `spreadMs`, or later by its own jitter. */
  async storm({ spreadMs, seed = 1 }) {
    const random = seeded(seed);
    for (const { ws } of clients) ws.terminate();
    const back = clients.map(async (client) => {
      await pause(random() * spreadMs);
      return openAll([client], { concurrency: 1, random });
    });
    const attempts = await Promise.all(back);
    return { attempts: attempts.reduce((sum, n) => sum + n, 0) };
  },
  async request({ from = 0, to = clients.length, method, params }) {
    await Promise.all(clients.slice(from, to).map((client) => client.request(method, params)));
  },
  stopReading({ from, to }) {
    for (const { ws } of clients.slice(from, to)) ws.pause();
  },
  readOn({ from, to }) {
    for (const { ws } of clients.slice(from, to)) ws.resume();
  },
  /** Each client sends messages to its own session until its socket ends. @returns those that were acknowledged */
  async chat({ name }) {
    const acknowledged = [];
    const talk = async (client) => {
      for (let i = 0; client.closed === ""; i += 1) {
        const sessionKey = `agent:main:${name}-${client.index}`;
        const message = `message ${name} ${client.index} ${i}`;
        const answer = await client.request("chat.send", { sessionKey, message, idempotencyKey: message }).catch(() => undefined);
        if (!answer) {
          await pause(5);
          continue;
        }
        acknowledged.push({ sessionKey, message });
        acknowledgements += 1;
      }
    };
    await Promise.all(clients.map(talk));
    return acknowledged;
  },
  state() {
    const seen = clients.map(({ index, seq, gaps, events, lastEvent, closed, isReady }) => ({
      ...{ index, seq, gaps, events, lastEvent, closed },
      isOpen: isReady && closed === "",
    }));
    return { acknowledgements, clients: seen, open: seen.filter((c) => c.isOpen).length, closes: Object.fromEntries(closes) };
  },
  forget() {
    for (const { ws } of clients.splice(0)) ws.terminate();
    closes.clear();
    acknowledgements = 0;
  },
};

process.on("message", async ({ id, name, args }) => {
  try {
    process.send({ id, value: await commands[name](args ?? {}) });
  } catch (error) {
    process.send({ id, error: String(error.stack) });
  }
});
process.on("disconnect", () => process.exit(0));
