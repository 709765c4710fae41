import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/plugins/${name}`, import.meta.url));

let home: Home;
let gateway: Running | undefined;
beforeEach(async () => {
  home = await createHome();
  const setup = await svcCommand(home, ["setup", "--non-interactive"]);
  expect(setup, setup.stderr).toMatchObject({ code: 0 });
});
afterEach(async () => {
  await gateway?.kill("SIGTERM");
  gateway = undefined;
  await home.remove();
});

test("a plugin that throws at load and one that hangs in setup leave the gateway ready and are named with reasons", async () => {
  await writeFile(
    join(home.stateDir, "svc.json"),
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "hostile-plugins-token" } },
      plugins: { load: { paths: [fixture("throws-at-load"), fixture("hangs-in-setup")] } },
    }),
  );

  gateway = await startGateway(home);
  const port = { SVC_GATEWAY_PORT: String(gateway.port) };
  const list = await svcCommand(home, ["plugins", "list"], port);
  const answer = await svcCommand(home, ["agent", "--message", "Where is the router?"], port);

  expect(list.code).toBe(0);
  expect(list.stdout).toMatch(/throws-at-load .*failed/);
  expect(list.stdout).toContain("this module throws while it loads");
  expect(list.stdout).toMatch(/hangs-in-setup .*loading/);
  expect(answer, answer.stderr).toMatchObject({ code: 0 });
  expect(answer.stdout).toContain("Source: memory/");
});

test("a bind beyond loopback without auth refuses with the specified text and exit code 78", async () => {
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify({ gateway: { mode: "local" } }));

  const refused = await svcCommand(home, ["gateway", "--bind", "lan", "--port", "18799"]);
  const status = await svcCommand(home, ["gateway", "status", "--no-probe"]);

  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain("refusing to bind gateway to 0.0.0.0:18799 without auth");
  expect(status.stdout).toContain("Last refusal:");
});
