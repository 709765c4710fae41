import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { command } from "./_command.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

let home: Home;
let gateway: Running | undefined;
beforeEach(async () => {
  home = await createHome();
  await mkdir(home.stateDir, { mode: 0o700 });
});
afterEach(async () => {
  await gateway?.kill("SIGTERM");
  gateway = undefined;
  await home.remove();
});

const write = async (path: string, content: string, mode = 0o600) => {
  await mkdir(join(home.stateDir, path, ".."), { recursive: true });
  await writeFile(join(home.stateDir, path), content, { mode });
};

/** A plugin that writes down what it finds in the environment of its process. */
async function witness(names: string[]): Promise<string> {
  const seen = join(home.stateDir, "seen.json");
  await write("witness/svc.plugin.json", JSON.stringify({ id: "witness", version: "1.0.0", svc: { api: "^1.0.0" }, entry: "index.mjs" }));
  await write(
    "witness/index.mjs",
    `import { writeFileSync } from "node:fs";
import { definePlugin } from "svc/sdk";
export default definePlugin({ id: "witness", version: "1.0.0", svc: { api: "^1.0.0" }, setup() {
  writeFileSync(${JSON.stringify(seen)}, JSON.stringify(Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, process.env[name]]))));
} });\n`,
  );
  return seen;
}

test("a gateway whose config, variables and secrets are spread over files starts, and its commands reach it", async () => {
  await write(
    "svc.json",
    '{\n  // spread out\n  $include: ["./parts/gateway.json5", "./parts/plugins.json5"],\n  env: { vars: { FROM_CONFIG: "${FROM_DOTENV}-more" } },\n}\n',
  );
  await write(
    "parts/gateway.json5",
    '{ gateway: { mode: "local", auth: { token: { source: "exec", provider: "vault", id: "gateway/token" } } } }',
  );
  await write(
    "parts/plugins.json5",
    `{ plugins: { load: { paths: ["\${HOME}/.svc/witness"] }, entries: { witness: { enabled: true } } }, secrets: { $include: "./secrets.json5" } }`,
  );
  await write("parts/secrets.json5", '{ providers: { vault: { source: "exec", command: "${HOME}/.svc/vault", timeoutMs: "60s" } } }');
  await write(".env", "FROM_DOTENV=dotenv\nNODE_OPTIONS=--nonsense\n");
  await write(
    "vault",
    `#!${process.execPath}\nconsole.log(JSON.stringify({ protocolVersion: 1, values: { "gateway/token": "token-from-vault" } }));\n`,
    0o700,
  );
  const seen = await witness(["FROM_DOTENV", "FROM_CONFIG", "NODE_OPTIONS"]);

  gateway = await startGateway(home);
  const withToken = { headers: { authorization: "Bearer token-from-vault" } };
  expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(401);
  expect((await fetch(`${gateway.url}/v1/models`, withToken)).status).not.toBe(401);
  expect(JSON.parse(await readFile(seen, "utf8"))).toEqual({ FROM_DOTENV: "dotenv", FROM_CONFIG: "dotenv-more" });

  const health = await command(home, ["health", "--json"]);
  expect([health.code, JSON.parse(health.stdout)]).toMatchObject([0, { ok: true, secrets: { stale: [], unavailable: [] } }]);
  const reload = await command(home, ["secrets", "reload", "--json"]);
  expect([reload.code, JSON.parse(reload.stdout)]).toEqual([
    0,
    { ok: true, resolved: 1, warningCount: 0, stale: [], unavailable: [], changedOwners: [] },
  ]);
  expect(gateway.out.stdout + gateway.out.stderr).not.toContain("token-from-vault");
});

test("a gateway whose token is in a variable that is not set exits with 78, names it and makes no other", async () => {
  const config = '{ gateway: { mode: "local", auth: { token: "${GATEWAY_SECRET}" } } }';
  await write("svc.json", config);
  const refused = await svcCommand(home, ["gateway"], { SVC_GATEWAY_TOKEN: "another" });
  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain("gateway.auth.token: variable GATEWAY_SECRET is not set");
  expect(await readFile(join(home.stateDir, "svc.json"), "utf8")).toBe(config);

  const audit = await command(home, ["secrets", "audit", "--check"]);
  expect(audit.code).toBe(2);
  expect(audit.stdout).toContain("REF_UNRESOLVED");
});
