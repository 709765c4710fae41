import { lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { freshHome, gatewayIn, stopAll } from "./_cli.ts";
import { svcCommand } from "./_process.ts";

afterEach(stopAll);

/** Every file and folder that anybody else could look into, with its mode. */
async function openToOthers(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of ["", ...(await readdir(folder, { recursive: true }))]) {
    const facts = await lstat(join(folder, name));
    const mode = facts.mode & 0o777;
    if (mode !== (facts.isDirectory() ? 0o700 : 0o600)) found.push(`${name || "."} ${mode.toString(8)}`);
  }
  return found;
}

test("after a full run everything in the state directory is its user's alone, databases and their journals included", async () => {
  const home = await freshHome();
  const own = process.umask(0o022);
  onTestFinished(() => void process.umask(own));
  expect((await svcCommand(home, ["setup", "--non-interactive"])).code).toBe(0);
  const source = join(home.stateDir, "..", "source");
  await mkdir(source, { mode: 0o755 });
  await writeFile(join(source, "svc.plugin.json"), JSON.stringify({ id: "demo", version: "1.0.0", svc: { api: "^1.0.0" } }), {
    mode: 0o644,
  });
  await writeFile(
    join(source, "index.ts"),
    `import { writeFileSync } from "node:fs";
     import { definePlugin } from "svc/sdk";
     export default definePlugin({ id: "demo", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) { writeFileSync(ctx.stateDir + "/own", ""); } });`,
    { mode: 0o755 },
  );
  expect((await svcCommand(home, ["plugins", "install", source])).code).toBe(0);
  const gateway = await gatewayIn(home);
  const asked = await svcCommand(home, ["agent", "--message", "Where is the router?"], { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(asked, asked.stderr).toMatchObject({ code: 0 });
  expect((await svcCommand(home, ["config", "set", "logging.level", "debug"])).code).toBe(0);

  const files = await readdir(home.stateDir, { recursive: true });
  expect(files).toEqual(
    expect.arrayContaining(["state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "plugins/demo/index.ts", "plugin-data/demo/own"]),
  );
  expect(await openToOthers(home.stateDir)).toEqual([]);

  expect(await gateway.kill("SIGTERM")).toBe(0);
  expect(await openToOthers(home.stateDir)).toEqual([]);
});
