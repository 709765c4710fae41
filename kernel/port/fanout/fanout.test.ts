import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ProtocolEvent } from "../../../sdk/protocol/events.ts";
import { limits } from "../../../sdk/protocol/frames.ts";
import type { ClientInfo, OperatorScope } from "../../../sdk/types/rpc.ts";
import { allEvents } from "../../../test/tools/protocol-tables.ts";
import { createFanout, type Subscriber, type Subscription } from "./fanout.ts";

class Peer implements Subscriber {
  line: Subscription | undefined;
  readonly frames: Array<{ event: string; payload?: unknown; seq: number; stateVersion?: unknown }> = [];
  readonly info: ClientInfo;
  unsent = 0;
  sent = 0;
  cuts: string[] = [];
  constructor(scopes: OperatorScope[] = ["operator.read"], clientId = "test", role: ClientInfo["role"] = "operator") {
    this.info = { connId: "c", clientId, mode: "test", role, scopes, caps: [], remote: "127.0.0.1" };
  }
  subscribe(topic: string) {
    this.line?.subscribe(topic);
  }
  buffered() {
    return this.unsent;
  }
  progress() {
    return this.sent;
  }
  write(frame: string) {
    this.frames.push(JSON.parse(frame));
  }
  cut(code: number, reason: string) {
    this.cuts.push(`${code} ${reason}`);
  }
  get names() {
    return this.frames.map((f) => f.event);
  }
  get seqs() {
    return this.frames.map((f) => f.seq);
  }
}

function fanoutWith(...peers: Peer[]) {
  const time = { now: 0 };
  const fanout = createFanout({ monotonic: () => time.now, eventRow: (name) => allEvents[name as ProtocolEvent] });
  for (const peer of peers) peer.line = fanout.add(peer);
  return { fanout, time };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("an event reaches", () => {
  test.each<[string, OperatorScope[][], number[]]>([
    ["tick", [[], ["operator.read"]], [1, 1]],
    ["health", [[], ["operator.pairing"]], [1, 1]],
    ["shutdown", [[], ["operator.read"]], [1, 1]],
    ["presence", [[], ["operator.read"], ["operator.write"], ["operator.admin"], ["operator.pairing"]], [0, 1, 1, 1, 0]],
    ["plugin.demo.said", [[], ["operator.read"], ["operator.write"], ["operator.admin"]], [0, 0, 1, 1]],
  ])("%s: those whose scopes allow it", (name, scopes, counts) => {
    const peers = scopes.map((s) => new Peer(s));
    fanoutWith(...peers).fanout.emit(name, {});
    expect(peers.map((p) => p.frames.length)).toEqual(counts);
  });

  test("only subscribers of its topic, and only those its filter lets through", () => {
    const [a, b, c] = [new Peer(), new Peer(undefined, "b"), new Peer(undefined, "c")];
    const { fanout } = fanoutWith(a, b, c);
    b.subscribe("t");
    c.subscribe("t");
    fanout.emit("agent", {}, { topic: "t" });
    fanout.emit("chat", {}, { topic: "t", only: (client) => client.clientId === "c" });
    expect([a.names, b.names, c.names]).toEqual([[], ["agent"], ["agent", "chat"]]);
  });

  test("nobody who has left", () => {
    const [a, stays] = [new Peer(), new Peer()];
    const { fanout } = fanoutWith(a, stays);
    a.subscribe("t");
    a.line?.remove();
    a.subscribe("t");
    fanout.emit("tick", {}, { topic: "t" });
    fanout.emit("tick", {});
    expect([a.frames, stays.names, fanout.size()]).toEqual([[], ["tick"], 1]);
  });
});

test("numbers have no gap for anybody, whatever others may see", () => {
  const [reader, admin] = [new Peer(["operator.read"]), new Peer(["operator.admin"])];
  const { fanout } = fanoutWith(reader, admin);
  fanout.emit("presence", {});
  fanout.emit("plugin.x.y", {}, { scope: "admin" });
  fanout.emit("agent", {});
  expect([reader.names, reader.seqs]).toEqual([
    ["presence", "agent"],
    [1, 2],
  ]);
  expect(admin.seqs).toEqual([1, 2, 3]);
});

test("a state version travels beside the payload; an event without payload has none", () => {
  const a = new Peer();
  const { fanout } = fanoutWith(a);
  fanout.emit("presence", { presence: [] }, { stateVersion: { presence: 2, health: 3 } });
  fanout.emit("tick", undefined);
  expect(a.frames).toEqual([
    { type: "event", event: "presence", payload: { presence: [] }, stateVersion: { presence: 2, health: 3 }, seq: 1 },
    { type: "event", event: "tick", seq: 2 },
  ]);
});

describe("a receiver that does not read", () => {
  test("loses droppable events with their numbers, is cut at the first other one, and holds up nobody", () => {
    const [slow, fast] = [new Peer(), new Peer()];
    const { fanout } = fanoutWith(slow, fast);
    slow.unsent = limits.maxBufferedBytes + 1;

    fanout.emit("tick", {});
    fanout.emit("agent", {}, { droppable: true });
    expect([slow.frames, slow.cuts]).toEqual([[], []]);
    slow.unsent = limits.maxBufferedBytes;
    fanout.emit("presence", {});
    expect(slow.seqs).toEqual([3]);

    slow.unsent = limits.maxBufferedBytes + 1;
    fanout.emit("agent", {});

    expect(slow.cuts).toEqual(["1008 slow consumer"]);
    expect(fast.seqs).toEqual([1, 2, 3, 4]);
  });
});

describe("events that may be merged", () => {
  const delta = (key: string, text: string) => ({
    payload: { text },
    options: {
      merge: { key, join: (a: unknown, b: unknown) => ({ text: `${(a as { text: string }).text}${(b as { text: string }).text}` }) },
    },
  });
  const emit = (fanout: ReturnType<typeof createFanout>, key: string, text: string) => {
    const { payload, options } = delta(key, text);
    fanout.emit("chat", payload, options);
  };
  const texts = (peer: Peer) => peer.frames.map((f) => (f.payload as { text?: string }).text ?? f.event);

  test("go out at once the first time, then joined once in 50 ms", () => {
    const a = new Peer();
    const { fanout } = fanoutWith(a);
    for (const text of ["a", "b", "c"]) emit(fanout, "run", text);
    expect(texts(a)).toEqual(["a"]);

    vi.advanceTimersByTime(49);
    expect(texts(a)).toEqual(["a"]);
    vi.advanceTimersByTime(1);
    expect(texts(a)).toEqual(["a", "bc"]);

    emit(fanout, "run", "d");
    expect(texts(a)).toEqual(["a", "bc"]);
    vi.advanceTimersByTime(50);
    expect(texts(a)).toEqual(["a", "bc", "d"]);

    vi.advanceTimersByTime(50);
    emit(fanout, "run", "e");
    expect(texts(a)).toEqual(["a", "bc", "d", "e"]);
    expect(a.seqs).toEqual([1, 2, 3, 4]);
  });

  test("of different keys do not wait for each other", () => {
    const a = new Peer();
    const { fanout } = fanoutWith(a);
    emit(fanout, "one", "a");
    emit(fanout, "two", "b");
    expect(texts(a)).toEqual(["a", "b"]);
  });

  test("are sent before any later event, so that order holds", () => {
    const a = new Peer();
    const { fanout } = fanoutWith(a);
    for (const text of ["a", "b"]) emit(fanout, "run", text);
    fanout.emit("agent", {});
    expect(texts(a)).toEqual(["a", "b", "agent"]);
    vi.advanceTimersByTime(200);
    expect(a.frames).toHaveLength(3);
  });

  test("are joined per receiver: who came later gets only the later part", () => {
    const [early, late] = [new Peer(), new Peer()];
    const { fanout } = fanoutWith(early);
    emit(fanout, "run", "a");
    fanout.add(late);
    emit(fanout, "run", "b");
    vi.advanceTimersByTime(50);
    expect([texts(early), texts(late)]).toEqual([["a", "b"], ["b"]]);
  });

  test("are droppable, and leave no timer behind when their receiver goes", () => {
    const a = new Peer();
    const { fanout } = fanoutWith(a);
    a.unsent = limits.maxBufferedBytes + 1;
    emit(fanout, "run", "a");
    emit(fanout, "run", "b");
    expect(a.cuts).toEqual([]);

    a.line?.remove();

    expect(vi.getTimerCount()).toBe(0);
  });

  test("leave no timer behind once nothing waits", () => {
    const a = new Peer();
    emit(fanoutWith(a).fanout, "run", "a");
    vi.advanceTimersByTime(200);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a payload is serialised once for all receivers, and not at all when nobody wants it", () => {
  let times = 0;
  const payload = {
    toJSON: () => {
      times += 1;
      return {};
    },
  };
  const { fanout } = fanoutWith(new Peer(), new Peer(), new Peer([]));
  fanout.emit("plugin.x.y", payload);
  expect(times).toBe(0);
  fanout.emit("agent", payload);
  expect(times).toBe(1);
});

test.each(["constructor", "toString", "__proto__", "nowhere.listed"])("an event named %s is for administrators", (name) => {
  const [nobody, writer, admin] = [new Peer([]), new Peer(["operator.write", "operator.approvals"]), new Peer(["operator.admin"])];
  const { fanout } = fanoutWith(nobody, writer, admin);
  fanout.emit(name, {});
  fanout.emit(name, {}, { scope: "read" });
  expect([nobody, writer, admin].map((p) => p.frames.length)).toEqual([0, 0, 2]);
});

test("the scope of a listed event can be narrowed, never widened", () => {
  const [reader, writer] = [new Peer(["operator.read"]), new Peer(["operator.write"])];
  const { fanout } = fanoutWith(reader, writer);
  fanout.emit("agent", {}, { scope: "write" });
  fanout.emit("exec.approval.requested", {}, { scope: "read" });
  expect([reader.names, writer.names]).toEqual([[], ["agent"]]);
});

test("a node gets health only when it has subscribed to it, and tick and shutdown always", () => {
  const [node, operator] = [new Peer([], "n", "node"), new Peer([])];
  const { fanout } = fanoutWith(node, operator);
  for (const name of ["health", "tick", "shutdown", "presence"]) fanout.emit(name, {});
  expect([node.names, operator.names]).toEqual([
    ["tick", "shutdown"],
    ["health", "tick", "shutdown"],
  ]);
  node.subscribe("health");
  fanout.emit("health", {});
  expect(node.seqs).toEqual([1, 2, 3]);
});

test("a thousand receivers of equal rights cost one look at their rights", () => {
  let looks = 0;
  const scopes = new Proxy<OperatorScope[]>(["operator.read"], {
    get(target, key, self) {
      if (key === "includes") looks += 1;
      return Reflect.get(target, key, self);
    },
  });
  const peers = Array.from({ length: 1_000 }, () => new Peer(scopes));
  const { fanout } = fanoutWith(...peers);
  looks = 0;
  fanout.emit("presence", {});
  expect(looks).toBeLessThanOrEqual(3);
  expect(peers.every((p) => p.frames.length === 1)).toBe(true);
});

test("an answer is never skipped: over the bound the connection ends", () => {
  const a = new Peer();
  fanoutWith(a);
  a.unsent = limits.maxBufferedBytes;
  a.line?.answer('{"type":"res","seq":0}');
  a.unsent += 1;
  a.line?.answer('{"type":"res","seq":0}');
  expect([a.frames.length, a.cuts]).toEqual([1, ["1008 slow consumer"]]);
});

test("who is above 1 MiB and makes no progress for 30 s is cut", () => {
  const [stuck, slow, idle] = [new Peer(), new Peer(), new Peer()];
  const { fanout, time } = fanoutWith(stuck, slow, idle);
  stuck.unsent = limits.stallBytes + 1;
  slow.unsent = limits.stallBytes + 1;
  idle.unsent = limits.stallBytes;
  for (let s = 0; s < 30; s += 5) {
    fanout.cutStalled();
    slow.sent += 5_000;
    time.now += 5_000;
  }
  expect(stuck.cuts).toEqual([]);
  fanout.cutStalled();
  expect([stuck.cuts, slow.cuts, idle.cuts]).toEqual([["1008 slow consumer"], [], []]);
});

test("what may be skipped for a slow receiver is said by the table, by a merge, or by the sender", () => {
  const slow = new Peer(["operator.admin"]);
  const { fanout } = fanoutWith(slow);
  slow.unsent = limits.maxBufferedBytes + 1;
  const droppable = ["tick", "presence", "health", "sessions.changed", "config.changed", "plugins.changed", "memory.progress"];
  const notices = ["exec.approval.requested", "exec.approval.resolved", "plugin.approval.requested", "plugin.approval.resolved"];
  for (const name of [...droppable, ...notices]) fanout.emit(name, {});
  const join = (_earlier: unknown, later: unknown) => later;
  fanout.emit("chat", { state: "delta" }, { merge: { key: "chat:r", join } });
  fanout.emit("agent", { stream: "assistant" }, { merge: { key: "agent:r", join } });
  expect([slow.frames, slow.cuts]).toEqual([[], []]);
  fanout.emit("chat", { state: "final" });
  expect(slow.cuts).toEqual(["1008 slow consumer"]);
});

test("flushed waits until nothing is unsent, and no longer than it may", async () => {
  vi.useRealTimers();
  const a = new Peer();
  const { fanout } = fanoutWith(a);
  await fanout.flushed(60_000);
  a.unsent = 1;
  await fanout.flushed(10);
  let isOver = false;
  const wait = fanout.flushed(60_000).then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  a.unsent = 0;
  await wait;
});

describe("a payload without a JSON form", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const merge = { key: "k", join: (_earlier: unknown, later: unknown) => later };

  test("is refused to its emitter, and takes nobody's number", () => {
    const a = new Peer();
    const { fanout } = fanoutWith(a);
    expect(() => fanout.emit("plugin.x.y", cycle, { scope: "read" })).toThrow(TypeError);
    fanout.emit("tick", {});
    expect(a.seqs).toEqual([1]);
  });

  test("that waited to be merged does not fail the next emitter, or the timer, and shows as a gap", () => {
    const a = new Peer();
    const { fanout } = fanoutWith(a);
    const emitTwice = () => {
      fanout.emit("plugin.x.y", {}, { scope: "read", merge });
      fanout.emit("plugin.x.y", cycle, { scope: "read", merge });
    };

    emitTwice();
    fanout.emit("tick", {});
    vi.advanceTimersByTime(1_000);
    emitTwice();
    vi.advanceTimersByTime(1_000);
    fanout.emit("tick", {});

    expect(a.names).toEqual(["plugin.x.y", "tick", "plugin.x.y", "tick"]);
    expect(a.seqs).toEqual([1, 3, 4, 6]);
  });
});
