import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sharedWithPlugins, writePlugin } from "./_plugins.ts";

let root: string;
let gateway: TestGateway | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-loading-"));
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await rm(root, { recursive: true, force: true });
});
const record = (id: string) => gateway?.gateway.plugins().find((p) => p.id === id);

test("a dependency must have the version that is asked for, and be active", async () => {
  const plugins = await Promise.all([
    writePlugin(root, "base", {}),
    writePlugin(root, "broken", { setup: `throw new Error("no");` }),
    writePlugin(root, "fits", { manifest: { dependencies: { base: "^1.0.0" } } }),
    writePlugin(root, "newer", { manifest: { dependencies: { base: "^1.1.0" } } }),
    writePlugin(root, "lost", { manifest: { dependencies: { nowhere: "^1.0.0" } } }),
    writePlugin(root, "behind", { manifest: { dependencies: { broken: "^1.0.0" } } }),
  ]);
  gateway = await createTestGateway({ plugins });

  expect(record("fits")?.state).toBe("active");
  expect(record("newer")).toMatchObject({
    state: "failed",
    code: "missing-dependency",
    reason: 'plugin "base" is version 1.0.0, needed is ^1.1.0',
  });
  expect(record("lost")).toMatchObject({ code: "missing-dependency", reason: 'plugin "nowhere" is not there or not enabled' });
  expect(record("behind")).toMatchObject({ code: "dependency-failed", reason: expect.stringMatching(/^plugin "broken" is failed: ./) });
});

test("boot waits for a required plugin that takes its time, and not for others", async () => {
  const slowly = "await new Promise((resolve) => setTimeout(resolve, 300));";
  const plugins = await Promise.all([
    writePlugin(root, "needed", { setup: slowly }),
    writePlugin(root, "slower", { setup: `${slowly}${slowly}` }),
  ]);
  gateway = await createTestGateway({ plugins, stragglerMs: 50, config: { plugins: { entries: { needed: { required: true } } } } });

  expect(record("needed")?.state).toBe("active");
  expect(record("slower")?.state).toBe("loading");
});

test("a provider is started before those who require it, whatever the order of the folders", async () => {
  const shared = sharedWithPlugins({ did: [] as string[] });
  const life = (id: string) => `shared.did.push("${id} setup"); return { start: async () => {
    await new Promise((resolve) => setImmediate(resolve));
    shared.did.push("${id} start");
  } };`;
  const plugins = await Promise.all([
    writePlugin(root, "aa-user", { setup: life("user"), manifest: { requires: ["things@1"] } }),
    writePlugin(root, "bb-maybe", { setup: life("maybe"), manifest: { requires: ["things@1?", "nothing@1?"] } }),
    writePlugin(root, "zz-provider", { setup: life("provider"), manifest: { provides: ["things@1"] } }),
  ]);
  gateway = await createTestGateway({ plugins });

  expect(shared.did.slice(0, 2)).toEqual(["provider setup", "provider start"]);
  expect(shared.did.slice(2).sort()).toEqual(["maybe setup", "maybe start", "user setup", "user start"]);
});
