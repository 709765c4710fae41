import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createConfigHost } from "./config-host.ts";

test("a variable that .env gained since the start is there for a change that names it", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "svc-config-host-"));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  const path = join(stateDir, "svc.json");
  await writeFile(path, '{ gateway: { mode: "local", auth: { token: { source: "env", id: "LATE" } } } }');
  const options = { path, env: {}, stateDir, manifests: () => [], flags: {} };
  const issuesOf = async (host: ReturnType<typeof createConfigHost>) => {
    const loaded = await host.load();
    return host.check?.(loaded, loaded);
  };

  expect(await issuesOf(createConfigHost(options))).toMatchObject([{ path: "gateway.auth.token" }]);
  expect(await issuesOf(createConfigHost({ ...options, readEnv: async () => ({ LATE: "a-secret-of-32-characters-or-more" }) }))).toEqual(
    [],
  );
});
