import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { command } from "./_command.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/plugins/${name}`, import.meta.url));

let home: Home;
let gateway: Running | undefined;
beforeEach(async () => {
  home = await createHome();
  const setup = await command(home, ["setup", "--non-interactive"]);
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
  const list = await command(home, ["plugins", "list"], port);
  const answer = await command(home, ["agent", "--message", "Where is the router?"], port);

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
  const status = await command(home, ["gateway", "status", "--no-probe"]);

  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain("refusing to bind gateway to 0.0.0.0:18799 without auth");
  expect(status.stdout).toContain("Last refusal:");
});

async function startHostile(env: Record<string, string> = {}): Promise<Running> {
  await writeFile(
    join(home.stateDir, "svc.json"),
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "hostile-plugins-token" } },
      plugins: { load: { paths: [fixture("hostile")] }, allow: ["store", "agents", "hostile"] },
    }),
  );
  gateway = await startGateway(home, [], env);
  return gateway;
}

const call = (port: number, method: string, params: object = {}) =>
  command(home, ["gateway", "call", method, "--params", JSON.stringify(params)], { SVC_GATEWAY_PORT: String(port) });

async function stateOf(port: number, id: string): Promise<string | undefined> {
  const list = await command(home, ["plugins", "list", "--json"], { SVC_GATEWAY_PORT: String(port) });
  return (JSON.parse(list.stdout) as { plugins: Array<{ id: string; state: string }> }).plugins.find((p) => p.id === id)?.state;
}

async function logText(): Promise<string> {
  const logs = join(home.stateDir, "logs");
  const files = (await readdir(logs)).filter((name) => name.endsWith(".jsonl"));
  return (await Promise.all(files.map((name) => readFile(join(logs, name), "utf8")))).join("");
}

test("an endless loop of a plugin is named while it runs and ends the process with 70; then the plugin is in quarantine until it is enabled", async () => {
  const { child, port, out } = await startHostile({ SVC_TEST: "1", SVC_WATCHDOG_MS: "100,500,1000,3000" });
  const closed = once(child, "close") as Promise<[number | null]>;

  void call(port, "hostile.spin");
  const [code] = await closed;

  expect(code, out.stderr).toBe(70);
  expect(out.stderr).toMatch(/blocked for \d+ s by plugin "hostile" \(method hostile\.spin\)\n/);
  expect(out.stderr).toMatch(/spin \S*fixtures\/plugins\/hostile\/index\.cjs/);
  expect(out.stderr).toContain("ending with exit code 70");
  expect(out.stderr).not.toContain("debugger");
  const told = (await logText()).split("\n").filter((line) => line.includes("has been blocked"));
  expect(told.at(-1), told.join("\n")).toMatch(
    /"level":"error".*blocked for \d+ s by plugin \\"hostile\\" \(method hostile.spin\); ending with exit code 70/,
  );

  const lifts = "let it load again with: svc plugins enable hostile";
  const [list, doctor] = [await command(home, ["plugins", "list"]), await command(home, ["doctor"])];
  expect(list.stdout).toMatch(/hostile .*blocked .*quarantined: it blocked the event loop for \d+ s \(method hostile\.spin\)/);
  expect(list.stdout).toContain(lifts);
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(lifts) });

  const again = await startGateway(home);
  gateway = again;
  const at = { SVC_GATEWAY_PORT: String(again.port) };
  for (const args of [["status"], ["health"]])
    expect((await command(home, args, at)).stdout).toMatch(/hostile: it blocked the event loop for \d+ s \(method hostile\.spin\)/);
  expect(await command(home, ["plugins", "enable", "hostile"], at)).toMatchObject({ code: 0 });
  expect(await stateOf(again.port, "hostile")).toBe("active");
});

test("a gateway that was killed while a plugin blocked it starts without that plugin; one that stands still is not said to be absent", async () => {
  const { child, port, out } = await startHostile({ SVC_TEST: "1", SVC_WATCHDOG_MS: "100,500,1000,600000" });
  void call(port, "hostile.spin");
  const blocked = () => out.stderr.match(/blocked for \d+ s by plugin "hostile" \(method hostile\.spin\)/g)?.length ?? 0;
  await eventually(() => blocked() >= 2); // the second is noted in the state directory

  const hanging = await svcCommand(home, ["plugins", "list"], { SVC_GATEWAY_PORT: String(port) });
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  gateway = await startGateway(home);

  expect(hanging.stdout).toContain("A gateway runs here and does not answer");
  expect(hanging.stdout).not.toContain("No gateway runs here");
  expect(hanging.stderr).not.toContain("start it with");
  expect(await stateOf(gateway.port, "hostile")).toBe("blocked");
  expect(gateway.out.stderr).toMatch(
    /the gateway before this one \(pid \d+\) ended while its event loop was blocked for \d+ s by plugin "hostile"/,
  );
});

test("while a debugger is attached a loop is nobody's fault: it may stand at a breakpoint", async () => {
  const { child, port, out } = await startHostile({
    SVC_TEST: "1",
    SVC_WATCHDOG_MS: "100,200,300,400",
    NODE_OPTIONS: "--inspect=127.0.0.1:0",
  });

  expect((await call(port, "hostile.spin", { ms: 1_000 })).code).toBe(0);

  expect(child.exitCode, out.stderr).toBeNull();
  expect(out.stderr).not.toContain("has been blocked");
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
});

test("a plugin that blocks the event loop three times within a minute is named and degraded; the gateway serves on", async () => {
  const { port, out } = await startHostile();

  const told = () =>
    `${out.stdout}${out.stderr}`.match(/the event loop was blocked for \d+ ms by plugin "hostile" \(method hostile\.spin\)/g);
  // On a machine with much else to do some of them may end before they could be looked at.
  for (let calls = 0; calls < 16 && (await stateOf(port, "hostile")) !== "degraded"; calls++) {
    expect((await call(port, "hostile.spin", { ms: 800 })).code).toBe(0);
  }

  expect(await stateOf(port, "hostile")).toBe("degraded");
  expect(told()?.length).toBeGreaterThanOrEqual(3);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
});

test("a rejection nobody took is logged with its plugin; an exception nobody caught ends that plugin and nothing else", async () => {
  const { child, port, out } = await startHostile();

  expect((await call(port, "hostile.reject")).code).toBe(0);
  await eventually(() => `${out.stdout}${out.stderr}`.includes('unhandled rejection of plugin "hostile" (method hostile.reject)'));
  expect(await stateOf(port, "hostile")).toBe("active");

  expect((await call(port, "hostile.throw")).code).toBe(0);
  await eventually(async () => (await stateOf(port, "hostile")) === "failed");
  expect(`${out.stdout}${out.stderr}`).toContain('uncaught exception of plugin "hostile" (method hostile.throw)');
  expect(child.exitCode).toBeNull();
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
});
