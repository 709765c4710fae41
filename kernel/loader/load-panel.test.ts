import { describe, expect, test } from "vitest";
import { commonErrors } from "../../sdk/errors.ts";
import { loadPanel } from "./load-panel.ts";

const status = { kind: "status", label: "bulb", value: "on", level: "ok" };
const form = { kind: "form", method: "lamp.set", submit: "Set", fields: [{ name: "level", label: "Level", type: "number", value: 3 }] };
const command = { kind: "command", label: "Off", method: "lamp.off", params: { now: true } };
const table = { kind: "table", columns: ["a", "b"], rows: [["1", "2"]] };

/** Loads what a plugin answers. */
function load(answer: unknown, limits?: { ms?: number; bytes?: number }, signal = new AbortController().signal) {
  const of = {
    plugin: "lamp",
    panel: "stats",
    load: (async () => (typeof answer === "function" ? answer(signal) : answer)) as never,
    serves: (method: string) => method === "lamp.set" || method === "lamp.off",
  };
  return loadPanel(of, { signal, subject: {} }, limits);
}

/** Loads one block. */
const draw = (block: unknown) => load({ title: "Lamp", blocks: [block] });

test("every kind of block is taken as it is", async () => {
  const content = {
    title: "Lamp",
    blocks: [status, { kind: "keyValue", rows: [{ key: "k", value: "" }] }, table, { kind: "markdown", text: "**x**" }, form, command],
  };
  expect(await load(content)).toEqual(content);
  expect(await load({ title: "Lamp", blocks: [] })).toEqual({ title: "Lamp", blocks: [] });
});

test("what no page could draw is refused with the place and the reason", async () => {
  const [field] = form.fields;
  const withField = (change: object) => ({ ...form, fields: [{ ...field, ...change }] });
  const cases: Array<[unknown, string]> = [
    [{ ...status, level: "red" }, "at blocks.0.level"],
    [{ ...status, html: "<b>" }, "at blocks.0: unexpected property 'html'"],
    [{ ...status, value: 7 }, "at blocks.0.value"],
    [{ kind: "html", text: "<b>" }, "at blocks.0.kind"],
    [null, "at blocks.0"],
    [{ ...table, rows: [["1", "2"], ["3"]] }, "at blocks.0.rows.1: expected 2 cells, one for each column"],
    [{ ...table, rows: Array(501).fill(["1", "2"]) }, "at blocks.0.rows"],
    [withField({ type: "date" }), "at blocks.0.fields.0.type"],
    [withField({ value: "3" }), 'at blocks.0.fields.0.value: expected what its type "number" says'],
    [withField({ type: "select" }), "at blocks.0.fields.0.options"],
    [withField({ type: "select", options: ["a"], value: "b" }), "at blocks.0.fields.0.value: expected one of its options"],
    [withField({ options: ["a"] }), "at blocks.0.fields.0.options"],
    [withField({ name: "__proto__" }), "at blocks.0.fields.0.name"],
    [withField({ name: "constructor" }), "at blocks.0.fields.0.name: expected another name"],
    [{ ...form, fields: [field, field] }, "at blocks.0.fields: two fields have the same name"],
    [{ ...command, params: { x: () => 1 } }, "at blocks.0.params"],
    [{ ...command, method: "config.apply" }, 'at blocks.0.method: "config.apply" is no method of this plugin'],
    [{ ...form, method: "../lamp" }, "at blocks.0.method"],
  ];
  for (const [block, reason] of cases) {
    const failed = await draw(block).catch((error: unknown) => error);
    expect(failed, JSON.stringify(block)).toMatchObject({ code: "panel-invalid" });
    expect((failed as Error).message).toContain('panel "stats" of plugin "lamp" answered what cannot be drawn: ');
    expect((failed as Error).message, JSON.stringify(block)).toContain(reason);
  }
});

test("an answer that is no panel at all is refused", async () => {
  const trap = {
    get title() {
      throw new Error("not today");
    },
    blocks: [],
  };
  for (const odd of [undefined, null, 7, "text", [], {}, { title: "" }, { title: "T", blocks: {} }, trap])
    await expect(load(odd)).rejects.toMatchObject({ code: "panel-invalid" });
});

test("an answer over its size is refused before it is read, also one that contains itself", async () => {
  const endless: Record<string, unknown> = { title: "T" };
  endless.blocks = [endless];
  const long = { title: "T", blocks: [{ kind: "markdown", text: "x".repeat(2_000) }] };
  const escaped = { title: "T", blocks: [{ kind: "markdown", text: "\u0001".repeat(900) }] };
  for (const answer of [endless, long, escaped])
    await expect(load(answer, { bytes: 1_000 })).rejects.toMatchObject({ code: "panel-too-large" });
  await expect(load({ title: "T", blocks: Array(2_000_000).fill(null) })).rejects.toMatchObject({ code: "panel-too-large" });
});

describe("a load that does not end", () => {
  test("is given up at its limit, and its signal says so", async () => {
    let heard: AbortSignal | undefined;
    const of = {
      plugin: "lamp",
      panel: "stats",
      load: ({ signal }: { signal: AbortSignal }) => {
        heard = signal;
        return new Promise<never>(() => undefined);
      },
      serves: () => true,
    };
    const loading = loadPanel(of, { signal: new AbortController().signal, subject: {} }, { ms: 20 });
    await expect(loading).rejects.toMatchObject({ code: "panel-timeout" });
    expect(heard?.aborted).toBe(true);
  });

  test("ends with its caller", async () => {
    const caller = new AbortController();
    const loading = load(() => new Promise(() => undefined), {}, caller.signal);
    caller.abort(new Error("the caller left"));
    await expect(loading).rejects.toThrow("the caller left");
  });
});

test("a load that throws is named with its panel; what a plugin throws by name stays as it is", async () => {
  const failed = () => {
    throw new Error("no bulb");
  };
  await expect(load(failed)).rejects.toMatchObject({
    code: "panel-failed",
    message: 'panel "stats" of plugin "lamp" failed: no bulb',
  });
  const named = () => {
    throw commonErrors.failed({ message: "named" });
  };
  await expect(load(named)).rejects.not.toMatchObject({ code: "panel-failed" });
});
