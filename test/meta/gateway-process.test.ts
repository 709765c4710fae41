import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHome, startGateway } from "../e2e/_process.ts";

test("a gateway of a test that does not become ready leaves no process behind", async () => {
  const home = await createHome();
  onTestFinished(home.remove);
  home.program = join(home.env.HOME ?? "", "never-ready.mjs");
  home.readyMs = 1_000;
  await writeFile(home.program, "setInterval(() => {}, 60_000);");

  const failure = await startGateway(home).catch(String);

  expect(failure).toMatch(/process \d+, is not ready: .*ENOENT/);
  const pid = Number(/process (\d+)/.exec(`${failure}`)?.[1]);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("one that ends before it is ready is reported at once, with what it said", async () => {
  const home = await createHome();
  onTestFinished(home.remove);
  home.program = join(home.env.HOME ?? "", "ends.mjs");
  await writeFile(home.program, 'console.error("no such thing"); process.exitCode = 3;');

  await expect(startGateway(home)).rejects.toThrow(/ended with 3: no such thing/);
});
