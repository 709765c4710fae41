import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { gate, sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();

describe("a plugin that threw where nobody could catch it", () => {
  test("and is reloaded while it is being stopped ends as what runs then", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, stops: 0 });
    const setup = `${method("racer.word", "ctx.instance")} return { stop() { if (++shared.stops === 1) return shared.held; } };`;
    await own.start({ plugins: [await own.write("racer", { setup }), await own.write("other", {})] });
    const first = own.record("racer").instance;

    const failing = own.gateway.gateway.failPlugin("racer", new Error("thrown late"));
    await eventually(() => shared.stops === 1);
    const reloading = own.reload("racer");
    await own.reload("other"); // asked for later, so that the first one has come as far as it may
    await own.reload("other");
    held.open();

    expect(await failing).toBe(true);
    expect(await reloading).toMatchObject({ status: "enabled" });
    expect(own.record("racer").state).toBe("active");
    expect(await own.ask("racer.word")).toBe(first + 1);
  });

  test("and is being reloaded is told as that, and the new instance does not stay", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, starts: 0, stops: 0 });
    const setup = `${method("racer.word", "1")} return { start() { if (++shared.starts === 2) return shared.held; }, stop() { shared.stops++; } };`;
    await own.start({ plugins: [await own.write("racer", { setup })] });
    const reloading = own.reload("racer");
    await eventually(() => shared.starts === 2);

    const failing = own.gateway.gateway.failPlugin("racer", new Error("thrown late"));
    await expect(own.ask("racer.word")).rejects.toThrow(`racer.word: plugin "racer" is not running: `);
    held.open();

    expect(await failing).toBe(true);
    expect(await reloading).toMatchObject({ status: "failed" });
    expect(own.record("racer")).toMatchObject({ state: "failed", code: "uncaught", reason: "thrown late" });
    expect(shared.stops).toBe(2);
  });

  test("in its setup is answered for", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, setups: 0 });
    await own.start({
      plugins: [await own.write("racer", { setup: `if (++shared.setups === 1) throw new Error("no"); await shared.held;` })],
    });
    const reloading = own.reload("racer");
    await eventually(() => shared.setups === 2);

    const failing = own.gateway.gateway.failPlugin("racer", new Error("thrown late"));
    held.open();

    expect(await failing).toBe(true);
    await reloading;
    expect(own.record("racer").state).toBe("failed");
  });
});

test("a plugin whose only instance is being replaced when the gateway stops does not come up again", async () => {
  const held = gate();
  const shared = sharedWithPlugins({ held: held.opened, setups: 0, disposed: 0, stops: 0, isStopping: false });
  const setup = `shared.setups++; ctx.onDispose(() => { shared.disposed++; }); return { stop() { shared.stops++; return shared.held; } };`;
  const plugins = [
    await own.write("single", { setup, manifest: { reload: { exclusive: true }, provides: ["single@1"] } }),
    await own.write("last", { setup: "return { stop() { shared.isStopping = true; } };", manifest: { requires: ["single@1"] } }),
  ];
  await own.start({ plugins });
  const reloading = own.reload("single").catch(() => undefined);
  await eventually(() => shared.stops === 1);

  const closing = own.gateway.close();
  await eventually(() => shared.isStopping);
  held.open();
  await Promise.all([closing, reloading]);

  expect(shared.disposed).toBe(shared.setups);
});

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("whatever is asked for at the same time", () => {
  test.each([
    [1, false],
    [2, false],
    [3, true],
    [4, true],
  ])(
    "each plugin has at most one instance in service, its state says which, and none is left at the end (seed %i, exclusive: %s)",
    async (seed, exclusive) => {
      const random = seeded(seed);
      const turns = async (most: number) => {
        for (let n = Math.floor(random() * most); n > 0; n--) await new Promise((resolve) => setImmediate(resolve));
      };
      const shared = sharedWithPlugins({ turns, live: new Set<string>(), ended: [] as string[] });
      const setup = (id: string) => `const me = "${id}:" + ctx.instance; shared.live.add(me);
      ctx.onDispose(() => { shared.live.delete(me); shared.ended.push(me); }); await shared.turns(4); ${method(`${id}.who`, "ctx.instance")}
      return { async start() { await shared.turns(4); }, async stop() { await shared.turns(60); } };`;
      const ids = ["one", "two"];
      const manifest = { reload: { exclusive } };
      await own.start({ plugins: await Promise.all(ids.map((id) => own.write(id, { setup: setup(id), manifest }))) });
      const pick = () => ids[Math.floor(random() * ids.length)] as string;
      const steps: Array<(id: string) => Promise<unknown>> = [
        (id) => own.reload(id),
        (id) => own.gateway.gateway.failPlugin(id, new Error("thrown late")),
        (id) => own.gateway.reload({ plugins: { entries: { [id]: { enabled: false } } } }),
        () => own.gateway.reload({}),
        (id) => own.ask(`${id}.who`),
      ];

      const under: Array<Promise<unknown>> = [];
      for (let n = 0; n < 40; n++) {
        under.push((steps[Math.floor(random() * steps.length)] as (id: string) => Promise<unknown>)(pick()).catch(() => undefined));
        await turns(6);
      }
      await Promise.all(under);
      for (const id of ids) {
        const { state, instance } = own.record(id);
        expect(await own.ask(`${id}.who`).catch(() => undefined)).toBe(state === "active" ? instance : undefined);
      }
      await own.gateway.reload({});
      for (const id of ids) await own.reload(id);

      for (const id of ids) {
        expect(own.record(id)).toMatchObject({ id, state: "active" });
        expect(await own.ask(`${id}.who`)).toBe(own.record(id).instance);
        await eventually(() => [...shared.live].filter((me) => me.startsWith(`${id}:`)).length === 1);
      }
      await own.gateway.close();
      expect([...shared.live]).toEqual([]);
      expect(new Set(shared.ended).size).toBe(shared.ended.length);
    },
  );
});
