import { afterEach, describe, expect, test } from "vitest";

const load = (path: string) => import(new URL(`./public/core/${path}`, import.meta.url).href);
const { openBridge, readCall } = await load("panel-bridge.js");
const { firstValues, frameAddress, panelAddress, panelsAt, paramsOf, resultText } = await load("panel-facts.js");

const panel = { id: "draw", pluginId: "lamp", surface: "tab", label: "Draw", kind: "frame", src: "a b/index.html" } as const;
const fields = [
  { name: "name", label: "Name", type: "text", value: "Ada" },
  { name: "level", label: "Level", type: "number" },
  { name: "on", label: "On", type: "boolean", value: true },
  { name: "colour", label: "Colour", type: "select", options: ["red", "blue"] },
] as const;

test("panels have addresses, in the page and for their frames", () => {
  expect(panelAddress(panel)).toBe("#/panel/lamp/draw");
  expect(panelAddress(panel, { sessionKey: "agent:main:main" })).toBe("#/panel/lamp/draw?s=agent%3Amain%3Amain");
  expect(frameAddress("/ui/", panel)).toBe("/ui/panel/lamp/a%20b/index.html");
  expect(panelsAt([panel, { ...panel, surface: "settings", pluginId: "other" }], "settings", "lamp")).toEqual([]);
});

test("a form sends what its fields are of; what is left empty is left out, unless it is a text", () => {
  expect(firstValues([...fields])).toEqual({ name: "Ada", level: "", on: true, colour: "" });
  expect(paramsOf([...fields], {})).toEqual({ params: { name: "Ada", on: true } });
  expect(paramsOf([...fields], { name: "", level: " 2.5", on: false, colour: "red" })).toEqual({
    params: { name: "", level: 2.5, on: false, colour: "red" },
  });
  expect(paramsOf([...fields], { level: "2,5" })).toEqual({ wrong: fields[1] });
});

test.each([
  [undefined, ""],
  [null, ""],
  [{ ok: true }, ""],
  [{}, ""],
  ["It is on.", "It is on."],
  [{ text: "Hello!" }, "Hello!"],
  [{ ok: true, level: 3 }, '{\n  "level": 3\n}'],
  [[1], "[\n  1\n]"],
])("the result %j reads %j", (result, text) => expect(resultText(result)).toBe(text));

describe("a message of a frame", () => {
  const methods = ["lamp.on", "health"];
  const call = { id: 1, method: "lamp.on", params: { level: 2 } };

  test("is a call of a method that was declared", () => {
    expect(readCall(call, methods)).toEqual(call);
    expect(readCall({ id: "a", method: "health" }, methods)).toEqual({ id: "a", method: "health", params: {} });
  });

  test("is refused by name when it is anything else", () => {
    const endless: Record<string, unknown> = { ...call };
    endless.params = endless;
    const cases: Array<[unknown, string]> = [
      [undefined, "INVALID_REQUEST"],
      [null, "INVALID_REQUEST"],
      ["ready", "INVALID_REQUEST"],
      [[], "INVALID_REQUEST"],
      [{}, "INVALID_REQUEST"],
      [{ ...call, id: {} }, "INVALID_REQUEST"],
      [{ ...call, id: "x".repeat(65) }, "INVALID_REQUEST"],
      [{ ...call, params: [] }, "INVALID_REQUEST"],
      [{ ...call, params: "x" }, "INVALID_REQUEST"],
      [{ ...call, method: ["lamp.on"] }, "INVALID_REQUEST"],
      [{ ...call, params: { big: 1n } }, "INVALID_REQUEST"],
      [endless, "INVALID_REQUEST"],
      [{ ...call, method: "config.apply" }, "FORBIDDEN"],
      [{ ...call, method: "constructor" }, "FORBIDDEN"],
      [{ ...call, params: { text: "x".repeat(65_536) } }, "TOO_LARGE"],
      [{ ...call, params: { text: "é".repeat(33_000) } }, "TOO_LARGE"],
    ];
    for (const [message, code] of cases) expect(readCall(message, methods).refusal?.code).toBe(code);
  });

  test("is read once: what a getter says later counts for nothing", () => {
    const { params } = readCall(
      {
        ...call,
        params: {
          get level() {
            return 1;
          },
          run: () => 1,
        },
      },
      methods,
    );
    expect(params).toEqual({ level: 1 });
  });
});

describe("the channel to a frame", () => {
  let bridge: { close(): void } | undefined;
  afterEach(() => bridge?.close());

  /** A channel whose clock stands still, and what came back over it. */
  function open(answer: (method: string, params: object, signal: AbortSignal) => Promise<unknown> = async (method) => ({ method })) {
    const came: Array<{ id: unknown; ok: boolean; payload?: unknown; error?: { code: string; message: string } }> = [];
    const calls: string[] = [];
    const state = { flooded: 0, at: 0 };
    const opened = openBridge({
      methods: ["lamp.on"],
      call: (method: string, params: object, signal: AbortSignal) => {
        calls.push(method);
        return answer(method, params, signal);
      },
      onFlood: () => {
        state.flooded += 1;
      },
      now: () => state.at,
    });
    bridge = opened;
    const port = opened.port as MessagePort;
    port.onmessage = ({ data }) => void came.push(data);
    return {
      ...{ came, calls, state, opened },
      send: (...messages: unknown[]) => {
        for (const message of messages) port.postMessage(message);
      },
      until: (count: number) => expect.poll(() => came.length).toBe(count),
    };
  }
  const call = (id: number) => ({ id, method: "lamp.on" });

  test("answers calls by their ids, with the payload or with code and sentence only", async () => {
    const own = open(async (_, params) => {
      if ("fail" in params) throw Object.assign(new Error("no bulb"), { code: "UNAVAILABLE", stack: "secret", details: { path: "/x" } });
      return { level: 3 };
    });
    own.send(call(1), { ...call(2), params: { fail: true } }, { ...call(3), method: "health" });
    await own.until(3);
    expect(own.came.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { id: 1, ok: true, payload: { level: 3 } },
      { id: 2, ok: false, error: { code: "UNAVAILABLE", message: "no bulb" } },
      { id: 3, ok: false, error: { code: "FORBIDDEN", message: expect.any(String) } },
    ]);
    expect(own.calls).toEqual(["lamp.on", "lamp.on"]);
  });

  test("takes ten calls a second, and a hundred at once are ten calls and ninety refusals", async () => {
    const own = open();
    own.send(...Array.from({ length: 100 }, (_, i) => call(i)));
    await own.until(100);
    expect(own.calls).toHaveLength(10);
    expect(own.came.filter(({ error }) => error?.code === "RATE_LIMITED")).toHaveLength(90);
    own.state.at = 1_000;
    own.send(call(100));
    await own.until(101);
    expect(own.calls).toHaveLength(11);
  });

  test("has no more than ten calls open", async () => {
    const own = open(() => new Promise(() => undefined));
    own.send(...Array.from({ length: 10 }, (_, i) => call(i)));
    await expect.poll(() => own.calls.length).toBe(10);
    own.state.at = 5_000;
    own.send(call(10));
    await own.until(1);
    expect(own.came).toEqual([{ id: 10, ok: false, error: expect.objectContaining({ code: "RATE_LIMITED" }) }]);
  });

  test("is cut off after a thousand refusals in a row", async () => {
    const own = open();
    own.send(...Array.from({ length: 2_000 }, (_, i) => ({ id: i, method: "lamp.off" })));
    await expect.poll(() => own.state.flooded).toBe(1);
    expect([own.calls, own.came.length < 1_000]).toEqual([[], true]);
  });

  test("says so when an answer is too large, and drops what comes after its end", async () => {
    const signals: AbortSignal[] = [];
    const own = open(async (_, params, signal) => {
      signals.push(signal);
      return "wait" in params
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))))
        : "x".repeat(65_536);
    });
    own.send(call(1));
    await own.until(1);
    expect(own.came).toEqual([{ id: 1, ok: false, error: expect.objectContaining({ code: "TOO_LARGE" }) }]);
    own.send({ ...call(2), params: { wait: true } });
    await expect.poll(() => signals.length).toBe(2);
    own.opened.close();
    expect(signals[1]?.aborted).toBe(true);
  });
});
