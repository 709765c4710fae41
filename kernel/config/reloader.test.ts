import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PreparedReload } from "../../sdk/types/reload.ts";
import type { LoadedConfig } from "./loaded.ts";
import type { PassDeps } from "./reload-pass.ts";
import type { ReloadMode } from "./reload-plan.ts";
import { Reloader, type ReloaderOptions } from "./reloader.ts";

let dir: string;
let path: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-reloader-"));
  path = join(dir, "svc.json");
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(dir, { recursive: true, force: true });
});

type Tree = Record<string, unknown>;

function loadedOf(tree: Tree, own: Partial<LoadedConfig> = {}): LoadedConfig {
  const text = JSON.stringify(tree);
  const gateway = { mode: "local", reload: { mode: "hybrid" }, ...(tree.gateway as Tree) };
  const secretState = { resolved: 0, stale: [], unavailable: [], changedOwners: [] };
  const rest = { path, exists: true, valid: true, watched: [path], issues: [], warnings: [], secretState, hash: text, text };
  return { ...rest, files: [{ path, text, bom: false }], config: { ...tree, gateway }, ...own } as unknown as LoadedConfig;
}

/** A reloader over trees instead of files; `write` makes the next read. */
function setup(start: Tree = {}, own: { deps?: Partial<PassDeps>; options?: Partial<ReloaderOptions> } = {}) {
  const events: string[] = [];
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  const quiet = () => undefined;
  const logger = { trace: quiet, debug: quiet, info: say, warn: say, error: say, child: () => logger };
  let next = loadedOf(start);
  let notify: () => void = () => undefined;
  const followed: Array<readonly string[]> = [];
  const options: ReloaderOptions = {
    initial: next as ReloaderOptions["initial"],
    load: async () => next,
    pass: {
      classes: () => ({
        classOf: (at) => (at.startsWith("gateway") ? "restart" : at.startsWith("models") ? "hot" : "none"),
        manifestReload: () => undefined,
        authModeChanged: false,
      }),
      refusals: (next) => (next.hash === "no secret" ? [{ path: "gateway.auth.token", message: "exec failed" }] : []),
      participants: () => [],
      mask: (config) => config,
      validate: async () => [],
      raise: async () => undefined,
      attribute: (_plugin, run) => run(),
      changed: async (_prev, _next, paths) => void events.push(`changed ${paths.join()}`),
      applyEntries: async (ids) => {
        events.push(`entries ${ids.join()}`);
        return ids.map((id) => ({ id, status: id.startsWith("bad") ? ("failed" as const) : ("reloaded" as const), ms: 1 }));
      },
      ...own.deps,
    },
    onSwap: () => void events.push("swap"),
    onSettled: () => undefined,
    requestRestart: (reason) => void events.push(reason === undefined ? "no restart" : reason),
    watch(onChange) {
      notify = onChange;
      return {
        intervalMs: 5_000,
        setFiles: (files) => void followed.push(files),
        lastRanAgeMs: () => 0,
        revive: () => false,
        dispose: () => undefined,
      };
    },
    logger,
    now: () => 1_000,
    ...own.options,
  };
  const reloader = new Reloader(options);
  return {
    reloader,
    events,
    lines,
    followed,
    notify: () => notify(),
    write: async (tree: Tree, more: Partial<LoadedConfig> = {}) => {
      next = loadedOf(tree, more);
      await writeFile(path, next.text);
    },
    value: (key: string) => (reloader.current().config as unknown as Tree)[key],
    gateway: () => reloader.current().config.gateway as unknown as Tree,
  };
}

const withMode = (mode: ReloadMode, more: Tree = {}) => ({ reload: { mode }, ...more });

describe("the modes, through the whole pipeline", () => {
  const startWith = (mode: ReloadMode) => ({ gateway: withMode(mode, { port: 1 }), logging: "a", models: "a" });

  test.each<[ReloadMode, Tree, { status: string; running: Tree; pending?: string[]; events?: string[] }]>([
    ["off", { logging: "b" }, { status: "off", running: { logging: "a" }, pending: ["logging"] }],
    ["off", { models: "b" }, { status: "off", running: { models: "a" }, pending: ["models"] }],
    ["off", { port: 2 }, { status: "off", running: { port: 1 }, pending: ["gateway.port"] }],
    ["hot", { logging: "b" }, { status: "applied", running: { logging: "b" } }],
    ["hot", { models: "b" }, { status: "applied", running: { models: "b" } }],
    ["hot", { models: "b", port: 2 }, { status: "applied", running: { models: "b", port: 1 }, pending: ["gateway.port"] }],
    ["hot", { port: 2 }, { status: "applied", running: { port: 1 }, pending: ["gateway.port"] }],
    ["restart", { logging: "b" }, { status: "applied", running: { logging: "b" } }],
    ["restart", { models: "b" }, { status: "restart", running: { models: "a" }, pending: ["models"] }],
    ["restart", { port: 2 }, { status: "restart", running: { port: 1 }, pending: ["gateway.port"] }],
    ["hybrid", { logging: "b" }, { status: "applied", running: { logging: "b" } }],
    ["hybrid", { models: "b" }, { status: "applied", running: { models: "b" } }],
    ["hybrid", { models: "b", port: 2 }, { status: "restart", running: { models: "a", port: 1 }, pending: ["gateway.port"] }],
  ])("%s, after a change of %j", async (mode, { port = 1, ...change }, { status, running, pending = [] }) => {
    const at = setup(startWith(mode));
    await at.write({ ...startWith(mode), gateway: withMode(mode, { port }), ...change });

    const outcome = await at.reloader.reload("watch");

    expect(outcome).toMatchObject({ status, pendingRestart: pending });
    const { port: ownPort, ...rest } = running;
    if (ownPort !== undefined) expect(at.gateway().port).toBe(ownPort);
    for (const [key, value] of Object.entries(rest)) expect(at.value(key)).toBe(value);
    expect(at.reloader.pendingRestart()).toEqual(pending);
    const asked = at.events.filter((e) => e.startsWith("config change requires"));
    expect(asked).toEqual(status === "restart" ? [`config change requires gateway restart (${pending.join()})`] : []);
  });

  test("hot says what it ignores, and a later change still finds it", async () => {
    const at = setup(startWith("hot"));
    await at.write({ ...startWith("hot"), gateway: withMode("hot", { port: 2 }) });
    await at.reloader.reload("watch");
    expect(at.lines).toEqual(["config change requires gateway restart; hot mode ignoring (gateway.port)"]);
    await at.write({ ...startWith("hot"), models: "b", gateway: withMode("hot", { port: 2 }) });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "applied", action: "hot", pendingRestart: ["gateway.port"] });
    expect(at.gateway().port).toBe(1);
    await at.write({ ...startWith("hot"), models: "b" });
    await at.reloader.reload("watch");
    expect(at.reloader.pendingRestart()).toEqual([]);
  });

  test("a restart that is no longer needed is taken back", async () => {
    const at = setup(startWith("hybrid"));
    await at.write({ ...startWith("hybrid"), gateway: withMode("hybrid", { port: 2 }) });
    await at.reloader.reload("watch");
    await at.write(startWith("hybrid"));
    await at.reloader.reload("watch");
    expect(at.events.at(-1)).toBe("no restart");
    expect(at.reloader.pendingRestart()).toEqual([]);
  });

  test("off follows no file and says so; asked for, it applies what it can", async () => {
    const at = setup(startWith("off"));
    at.reloader.start();
    expect(at.followed).toEqual([[]]);
    expect(at.reloader.status().status).toBe("off");
    await at.write({ ...startWith("off"), models: "b" });
    expect(await at.reloader.reload("rpc")).toMatchObject({ status: "applied" });
    expect(at.value("models")).toBe("b");
  });

  test("switching the mode takes effect at once and restarts nothing", async () => {
    const at = setup(startWith("restart"));
    at.reloader.start();
    await at.write(startWith("off"));
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "applied", action: "none", pendingRestart: [] });
    expect(at.followed.at(-1)).toEqual([]);
    await at.write(startWith("hybrid"));
    await at.reloader.reload("rpc");
    expect(at.followed.at(-1)).toEqual([path]);
  });

  test.each<ReloadMode>(["off", "hot", "restart", "hybrid"])("new secrets are applied in mode %s", async (mode) => {
    const at = setup(startWith(mode));
    await at.write({ ...startWith(mode), models: "b" });
    expect(await at.reloader.reload("secrets")).toMatchObject({ status: "applied", action: "hot", changedPaths: ["models"] });
    expect(at.value("models")).toBe("b");
  });
});

describe("a file that cannot be used", () => {
  test.each<[string, Tree, Partial<LoadedConfig>, string]>([
    [
      "invalid",
      {},
      { valid: false, issues: [{ path: "gateway", message: 'unknown key "bogus"' } as never] },
      'gateway: unknown key "bogus"',
    ],
    [
      "unparsable",
      {},
      { valid: false, issues: [{ path: "", message: "unexpected end", file: "svc.json", line: 3, column: 7 } as never] },
      "(invalid config): svc.json:3:7  unexpected end",
    ],
    ["gone", {}, { exists: false }, "is gone; put it back"],
    ["reduced", { gateway: { mode: undefined } }, {}, 'gateway.mode: key missing: the file may be damaged; expected "local"'],
    ["without its gateway secret", {}, { hash: "no secret" }, "gateway.auth.token: exec failed"],
  ])("%s: the old snapshot stays, the log and health say why", async (_, tree, more, message) => {
    const at = setup({ models: "a" });
    const running = at.reloader.current();
    await at.write({ models: "b", ...tree }, more);

    expect(await at.reloader.reload("watch")).toMatchObject({ status: "invalid", action: "none" });

    expect(at.reloader.current()).toBe(running);
    expect(at.events).toEqual([]);
    expect(at.lines).toHaveLength(1);
    expect(at.lines[0]).toMatch(/^config reload skipped \(invalid config\): /);
    expect(at.lines[0]).toContain(message);
    expect(at.reloader.status()).toMatchObject({ status: "invalid", since: 1_000, issues: [expect.anything()] });
  });

  test("is forgotten once it is mended, also by going back to the running text", async () => {
    const at = setup({ models: "a" });
    await at.write({ models: "b" }, { valid: false, issues: [{ path: "x", message: "y" } as never] });
    await at.reloader.reload("watch");
    await at.write({ models: "a" });
    await at.reloader.reload("watch");
    expect(at.reloader.status()).toMatchObject({ status: "active", issues: [] });
  });

  test("is not forgotten because secrets were reloaded", async () => {
    const at = setup({ models: "a" });
    await at.write({ models: "b" }, { valid: false, issues: [{ path: "x", message: "y" } as never] });
    await at.reloader.reload("watch");
    await at.write({ models: "c" });
    await at.reloader.reload("secrets");
    expect(at.reloader.status().status).toBe("invalid");
  });
});

describe("the parts", () => {
  const part = (events: string[], plugin: string, own: Partial<PreparedReload> & { refuse?: Error; hang?: boolean } = {}) => ({
    plugin,
    participant: {
      prefixes: ["models"],
      prepare: async () => {
        events.push(`${plugin} prepare`);
        if (own.refuse) throw own.refuse;
        if (own.hang) await new Promise(() => undefined);
        return {
          apply: () => void events.push(`${plugin} apply`),
          discard: () => void events.push(`${plugin} discard`),
          ...own,
        };
      },
    },
  });

  test("prepare before the swap, apply after it in load order, then everybody hears of it", async () => {
    const events: string[] = [];
    const at = setup({ models: "a" }, { deps: { participants: () => [part(events, "one"), part(events, "two")] } });
    const log = vi.fn();
    await at.write({ models: "b", plugins: { entries: { x: { enabled: true } } } });
    at.events.push = (...items) => {
      log(...items);
      return events.push(...items);
    };

    await at.reloader.reload("watch");

    expect(events).toEqual([
      "one prepare",
      "two prepare",
      "swap",
      "one apply",
      "two apply",
      "changed models,plugins.entries.x.enabled",
      "entries x",
      "no restart",
    ]);
  });

  test("one refusal discards what the others prepared, and nothing has changed", async () => {
    const events: string[] = [];
    const participants = () => [part(events, "one"), part(events, "two", { refuse: new Error("no") }), part(events, "three")];
    const at = setup({ models: "a" }, { deps: { participants } });
    await at.write({ models: "b" });

    expect(await at.reloader.reload("watch")).toMatchObject({ status: "rejected", issues: [{ path: 'plugin "two"', message: "no" }] });

    expect(events).toEqual(["one prepare", "two prepare", "three prepare", "one discard", "three discard"]);
    expect(at.value("models")).toBe("a");
    expect(at.events).toEqual([]);
    expect(at.reloader.status()).toMatchObject({ status: "rejected" });
    expect(at.lines).toEqual(['config reload skipped (refused): plugin "two": no']);
  });

  test("one that hangs is given 30 s, and what it prepares afterwards is discarded", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const events: string[] = [];
    let finish: (prepared: PreparedReload) => void = () => undefined;
    const slow = { prefixes: ["models"], prepare: () => new Promise<PreparedReload>((resolve) => (finish = resolve)) };
    const at = setup({ models: "a" }, { deps: { participants: () => [{ plugin: "slow", participant: slow }] } });
    await at.write({ models: "b" });

    const outcome = at.reloader.reload("rpc");
    await vi.advanceTimersByTimeAsync(30_000);

    expect(await outcome).toMatchObject({ status: "rejected", issues: [{ message: "prepare did not finish within 30 s" }] });
    finish({ apply: () => void events.push("apply"), discard: () => void events.push("discard") });
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toEqual(["discard"]);
  });

  test("one that fails while it is applied is its own trouble: the rest goes on", async () => {
    const events: string[] = [];
    const apply = () => {
      throw new Error("late");
    };
    const at = setup({ models: "a" }, { deps: { participants: () => [part(events, "one", { apply }), part(events, "two")] } });
    await at.write({ models: "b" });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "applied" });
    expect(events.at(-1)).toBe("two apply");
    expect(at.value("models")).toBe("b");
    expect(at.reloader.status()).toMatchObject({ status: "active", failed: [{ path: "one", message: "late" }] });
  });

  test("are not asked when nothing below their prefixes changed", async () => {
    const events: string[] = [];
    const at = setup({ models: "a", logging: 1 }, { deps: { participants: () => [part(events, "one")] } });
    await at.write({ models: "a", logging: 2 });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "applied", action: "none" });
    expect(events).toEqual([]);
  });

  test("are not asked when a plugin objects to the whole", async () => {
    const events: string[] = [];
    const validate = async () => [{ path: "models", message: "not with me" }];
    const at = setup({ models: "a" }, { deps: { participants: () => [part(events, "one")], validate } });
    await at.write({ models: "b" });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "rejected", issues: [{ path: "models", message: "not with me" }] });
    expect(events).toEqual([]);
  });

  test("a plugin that could not be replaced is reported, and the reload stands", async () => {
    const at = setup({}, {});
    await at.write({ plugins: { entries: { bad: { enabled: true } } } });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "applied" });
    expect(at.reloader.status().failed).toEqual([{ path: "plugins.entries.bad", message: "failed" }]);
  });

  test("a tap may turn a hot change into a restart", async () => {
    const raise: PassDeps["raise"] = async ({ actions }) => ({ actions: actions.map((a) => ({ ...a, reload: "restart" })) });
    const at = setup({ models: "a" }, { deps: { raise } });
    await at.write({ models: "b" });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "restart", pendingRestart: ["models"] });
    expect(at.value("models")).toBe("a");
  });
});

describe("passes", () => {
  test("are serial, and all that is asked for during one shares exactly one more", async () => {
    let reads = 0;
    let together = 0;
    const load = async (active: LoadedConfig) => {
      reads += 1;
      together += 1;
      expect(together).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      together -= 1;
      return { ...active };
    };
    const { reloader } = setup({}, { options: { load } });
    const first = reloader.reload("rpc");
    const more = Array.from({ length: 10 }, () => reloader.reload("rpc"));
    await Promise.all([first, ...more]);
    expect(reads).toBe(2);
    await reloader.reload("rpc");
    expect(reads).toBe(3);
  });

  test("go on after one that broke", async () => {
    let isBroken = true;
    const load = async (active: LoadedConfig) => {
      if (!isBroken) return active;
      isBroken = false;
      throw new Error("disk");
    };
    const { reloader } = setup({}, { options: { load } });
    const first = reloader.reload("rpc");
    const second = reloader.reload("rpc");
    await expect(first).rejects.toThrow("disk");
    expect(await second).toMatchObject({ status: "unchanged", action: "none" });
  });

  test("a watch event for bytes that are known reads nothing else", async () => {
    const load = vi.fn();
    const at = setup({ models: "a" }, { options: { load } });
    await at.write({ models: "a" });
    expect(await at.reloader.reload("watch")).toMatchObject({ status: "unchanged" });
    expect(load).not.toHaveBeenCalled();
  });

  test("another text of the same config is swapped in and touches nobody", async () => {
    const at = setup({ models: "a" });
    const { config } = at.reloader.current();
    await at.write({ models: "a" }, { hash: "new hash" });
    expect(await at.reloader.reload("rpc")).toMatchObject({ status: "applied", action: "none", changedPaths: [] });
    expect(at.reloader.current()).toMatchObject({ hash: "new hash" });
    expect(at.reloader.current().config).toBe(config);
    expect(at.events).toEqual(["swap", "no restart"]);
  });

  test("nothing is read after the end", async () => {
    const load = vi.fn();
    const { reloader } = setup({}, { options: { load } });
    await reloader.dispose();
    expect(await reloader.reload("rpc")).toMatchObject({ status: "unchanged" });
    expect(load).not.toHaveBeenCalled();
  });
});
