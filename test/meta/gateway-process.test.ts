import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHome, startGateway } from "../e2e/_process.ts";

test("a gateway of a test that does not become ready leaves no process behind", async () => {
  const home = await createHome();
  onTestFinished(home.remove);
  const noted = join(home.env.HOME ?? "", "pid");
  home.program = join(home.env.HOME ?? "", "never-ready.mjs");
  home.readyMs = 3_000;
  await writeFile(
    home.program,
    `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(noted)}, String(process.pid)); setInterval(() => {}, 60_000);`,
  );

  await expect(startGateway(home)).rejects.toThrow("ENOENT");

  const pid = Number(await readFile(noted, "utf8"));
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("one that ends before it is ready is reported at once, with what it said", async () => {
  const home = await createHome();
  onTestFinished(home.remove);
  home.program = join(home.env.HOME ?? "", "ends.mjs");
  await writeFile(home.program, 'console.error("no such thing"); process.exitCode = 3;');

  await expect(startGateway(home)).rejects.toThrow(/ended with 3: no such thing/);
});
