import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateway } from "../../kernel/boot/gateway.ts";
import type { Gateway } from "../../kernel/boot/running-gateway.ts";
import { runCommandLine } from "../../kernel/cli/run.ts";
import { createLogger } from "../../kernel/process/logger.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import type { SecretsAudit } from "../../sdk/types/secrets.ts";

let home: string;
let state: string;
const gateways: Gateway[] = [];
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "svc-secrets-")));
  state = join(home, ".svc");
  await mkdir(state, { mode: 0o700 });
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close("test over");
  await rm(home, { recursive: true, force: true });
});

const write = (name: string, content: string | object, mode = 0o600) =>
  writeFile(join(state, name), typeof content === "string" ? content : JSON.stringify(content), { mode });

/** `svc` with this command line, as a program behind a pipe sees it. */
async function svc(argv: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const stdout = { write: (part: string) => (out += part), isTTY: false };
  const stderr = { write: (part: string) => (err += part) };
  const interrupt = () => ({ signal: new AbortController().signal, exitCode: (code: number) => code, dispose: () => undefined });
  const code = await runCommandLine(argv, { env: { HOME: home, ...env }, cwd: home, stdout, stderr, interrupt });
  return { code, out, err };
}
const audit = async (argv: string[] = [], env: Record<string, string> = {}) => {
  const { code, out } = await svc(["secrets", "audit", "--json", ...argv], env);
  return { code, audit: JSON.parse(out) as SecretsAudit & { ok: boolean } };
};
const ref = (id: string, source = "env") => ({ source, id });
const local = (auth: object, rest: object = {}) => ({ gateway: { mode: "local", auth }, ...rest });

describe("svc secrets audit", () => {
  test("finds nothing where every secret is kept elsewhere", async () => {
    await write("svc.json", local({ token: "${T}" }, { models: { providers: { acme: { apiKey: ref("K") } } } }));
    const clean = await audit(["--check"], { T: "the-token", K: "the-key" });
    expect(clean).toEqual({ code: 0, audit: { ok: true, findings: [], skippedExec: 0 } });
    expect(await svc(["secrets", "audit"], { T: "the-token", K: "the-key" })).toMatchObject({ code: 0, out: "No findings.\n" });
  });

  test("finds secrets in plain text, with their place and without their value; also those that plugins declare", async () => {
    await writeFile(join(state, "models.json5"), '{\n  providers: { acme: { headers: { "X-Custom": "plain-2" }, apiKey: "plain-3" } } }', {
      mode: 0o600,
    });
    await write("svc.json", '{ gateway: { mode: "local", auth: {\n  token: "plain-1" } },\n  models: { $include: "./models.json5" } }');
    const { code, audit: found } = await audit(["--check"]);
    expect(code).toBe(1);
    expect(found.findings.map(({ code, path, file, line }) => [code, path, file, line])).toEqual([
      ["PLAINTEXT_FOUND", "gateway.auth.token", "svc.json", 2],
      ["PLAINTEXT_FOUND", "models.providers.acme.headers.X-Custom", "models.json5", 2],
      ["PLAINTEXT_FOUND", "models.providers.acme.apiKey", "models.json5", 2],
    ]);
    expect(JSON.stringify(found)).not.toContain("plain-");
  });

  test("finds references that lead nowhere, and exits with 2 for them", async () => {
    await write(
      "svc.json",
      local({ token: "${T}" }, { models: { providers: { acme: { apiKey: ref("K"), baseUrl: "https://${HOST}" } } } }),
    );
    const { code, audit: found } = await audit(["--check"], { T: "" });
    expect(code).toBe(2);
    expect(found.findings).toEqual([
      { code: "REF_UNRESOLVED", path: "gateway.auth.token", file: "svc.json", line: 1, message: "variable T is empty" },
      { code: "REF_UNRESOLVED", path: "models.providers.acme.apiKey", file: "svc.json", line: 1, message: "variable K is not set" },
    ]);
    expect((await audit([], { T: "" })).code).toBe(0);
  });

  test("finds a variable that somebody will think counts", async () => {
    await write("svc.json", local({ token: "${T}" }));
    const { audit: found } = await audit([], { T: "the-token", SVC_GATEWAY_TOKEN: "other-token" });
    expect(found.findings).toEqual([
      {
        ...{ code: "REF_SHADOWED", path: "gateway.auth.token", file: "svc.json", line: 1 },
        message: "variable SVC_GATEWAY_TOKEN is set to something else; the config counts and the variable is not used",
      },
    ]);
    expect((await audit([], { T: "the-token", SVC_GATEWAY_TOKEN: "the-token" })).audit.findings).toEqual([]);
  });

  test("finds files that others may read, and folders they may enter", async () => {
    await write("keys.json", { k: "value" }, 0o640);
    await write(".env", "A=1", 0o644);
    const secrets = { providers: { box: { source: "file", path: join(state, "keys.json") } } };
    await write("svc.json", local({ mode: "none" }, { secrets }), 0o604);
    await chmod(join(state, "svc.json"), 0o604);
    await chmod(state, 0o755);
    const { code, audit: found } = await audit(["--check"]);
    expect(code).toBe(1);
    expect(found.findings.map(({ code, message }) => `${code} ${message}`)).toEqual([
      `FILE_PERMS mode 0755 lets others in; expected 0700: chmod 700 ${state}`,
      `FILE_PERMS mode 0604 lets others in; expected 0600: chmod 600 ${join(state, "svc.json")}`,
      `FILE_PERMS mode 0640 lets others in; expected 0600: chmod 600 ${join(state, "keys.json")}`,
      `FILE_PERMS mode 0644 lets others in; expected 0600: chmod 600 ${join(state, ".env")}`,
    ]);
  });

  test("runs programs only when it may", async () => {
    const command = join(state, "vault");
    await writeFile(command, "#!/bin/sh\necho ran >> ran.log\necho the-key\n", { mode: 0o700 });
    const secrets = { providers: { default: { source: "exec", command, jsonOnly: false } } };
    await write("svc.json", local({ mode: "none" }, { secrets, models: { providers: { acme: { apiKey: ref("key", "exec") } } } }));
    expect((await audit(["--check"])).audit).toEqual({ ok: true, findings: [], skippedExec: 1 });
    expect((await svc(["secrets", "audit"])).out).toBe("No findings.\n1 reference(s) to programs skipped; --allow-exec runs them.\n");
    await expect(realpath(join(state, "ran.log"))).rejects.toMatchObject({ code: "ENOENT" });
    expect((await audit(["--check", "--allow-exec"])).audit).toEqual({ ok: true, findings: [], skippedExec: 0 });
    await realpath(join(state, "ran.log"));
  });

  test("cannot look at a config that is not valid", async () => {
    await write("svc.json", "{ gateway: 5 }");
    const { code, out } = await svc(["secrets", "audit", "--json"]);
    expect(code).toBe(2); // not one of the gateway's own refusals
    expect(JSON.parse(out)).toMatchObject({ ok: false, error: { type: "config", code: "invalid-config" } });
  });

  test("prints a table with the place of each finding", async () => {
    await write("svc.json", local({ token: "plain-1" }));
    const { out } = await svc(["secrets", "audit"]);
    expect(out).toMatch(/PLAINTEXT_FOUND +gateway\.auth\.token +svc\.json:1 +the secret itself/);
  });
});

describe("svc secrets audit finds one secret for hooks and gateway", () => {
  const hooks = (token: unknown) => ({ hooks: { enabled: true, token } });

  test.each([
    ["in variables", local({ token: "${T}" }, hooks("${H}")), {}, "gateway.auth.token"],
    ["behind references", local({ token: ref("T") }, hooks(ref("H"))), {}, "gateway.auth.token"],
    ["as password", local({ password: ref("T") }, hooks(ref("H"))), {}, "gateway.auth.password"],
    ["in the environment of the gateway", local({}, hooks(ref("H"))), { SVC_GATEWAY_TOKEN: "the-same" }, "SVC_GATEWAY_TOKEN"],
  ])("%s", async (_, config, env, twin) => {
    await write("svc.json", config);
    const { code, audit: found } = await audit(["--check"], { T: "the-same", H: "the-same", ...env });
    expect(code).toBe(1);
    expect(found.findings).toEqual([
      {
        ...{ code: "DUPLICATE_SECRET", path: "hooks.token", file: "svc.json", line: 1 },
        message: `is the same secret as ${twin}; every webhook sender could act as an operator; use different secrets`,
      },
    ]);
  });

  test("and none where they differ", async () => {
    await write("svc.json", local({ token: "${T}" }, hooks("${H}")));
    expect((await audit([], { T: "the-token", H: "the-hooks" })).audit.findings).toEqual([]);
  });
});

describe("svc secrets reload", () => {
  async function gatewayWith(keys: object): Promise<void> {
    await write("keys.json", keys);
    const secrets = { providers: { box: { source: "file", path: join(state, "keys.json") } }, defaults: { file: "box" } };
    const providers = { acme: { apiKey: ref("/acme", "file") }, other: { apiKey: ref("/other", "file") } };
    await write("svc.json", local({ token: ref("/gateway", "file") }, { secrets, models: { providers } }));
    const env = { HOME: home, SVC_GATEWAY_PORT: "0" };
    const gateway = await createGateway({ paths: resolvePaths({ env }), env, version: "1.0.0", logger: createLogger([]), only: [] });
    gateways.push(gateway);
    await gateway.ready;
  }
  const keys = { gateway: "gateway-token", acme: "acme-1", other: "other-1" };

  test("asks for all secrets anew and tells who has another one", async () => {
    await gatewayWith(keys);
    await write("keys.json", { ...keys, acme: "acme-2" });
    const { code, out } = await svc(["secrets", "reload", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      ok: true,
      resolved: 3,
      warningCount: 0,
      stale: [],
      unavailable: [],
      changedOwners: ["models.providers.acme"],
    });
    expect((await svc(["secrets", "reload"])).out).toBe("3 secret(s) resolved. Nothing changed.\n");
  });

  test("keeps what cannot be asked, and says so", async () => {
    await gatewayWith(keys);
    await write("keys.json", { gateway: "gateway-token", acme: "acme-2" });
    const { code, out } = await svc(["secrets", "reload"]);
    expect([code, out]).toEqual([
      0,
      "2 secret(s) resolved. Changed: models.providers.acme\nStill with the old value: models.providers.other\n",
    ]);
    expect(JSON.parse((await svc(["health", "--json", "--verbose"])).out)).toMatchObject({
      secrets: { stale: ["models.providers.other"], unavailable: [] },
    });
    expect((await svc(["health"])).out).toContain("Secrets still with the old value: models.providers.other; see svc secrets reload\n");
  });

  test("changes nothing and exits with 1 when the gateway's own secret cannot be had", async () => {
    await gatewayWith(keys);
    await write("keys.json", { acme: "acme-2" });
    const { code, err } = await svc(["secrets", "reload", "--token", "gateway-token"]);
    expect(code).toBe(1);
    expect(err).toContain("secrets reload rejected: gateway.auth.token: file");
    await write("keys.json", keys);
    expect((await svc(["secrets", "reload"])).out).toBe("3 secret(s) resolved. Nothing changed.\n");
  });
});

describe("a command finds the gateway's secret as the gateway does", () => {
  const address = async (env: Record<string, string> = {}) => {
    let out = "";
    const interrupt = () => ({ signal: new AbortController().signal, exitCode: (code: number) => code, dispose: () => undefined });
    const stdout = { write: (part: string) => (out += part), isTTY: true };
    await runCommandLine(["gateway", "hints"], {
      env: { HOME: home, ...env },
      cwd: home,
      stdout,
      stderr: { write: () => true },
      interrupt,
    });
    return /#token=([\w-]+)/.exec(out)?.[1];
  };

  test("in a variable of its environment", async () => {
    await write("svc.json", local({ token: "${T}" }));
    expect(await address({ T: "from-process" })).toBe("from-process");
  });

  test("in the .env of the state directory", async () => {
    await write("svc.json", local({ token: "${T}" }));
    await write(".env", "T=from-dotenv\n");
    expect(await address()).toBe("from-dotenv");
  });

  test("not in the .env of the working directory", async () => {
    await write("svc.json", { gateway: { mode: "local" } });
    await writeFile(join(home, ".env"), "SVC_GATEWAY_TOKEN=stolen\n");
    expect(await address()).toBeUndefined();
  });

  test("in an included file", async () => {
    await write("svc.json", '{ gateway: { $include: "./gateway.json" } }');
    await write("gateway.json", local({ token: "from-include" }).gateway);
    expect(await address()).toBe("from-include");
  });

  test("behind a reference", async () => {
    await write("svc.json", local({ token: ref("T") }));
    expect(await address({ T: "from-reference" })).toBe("from-reference");
  });

  test("in the variables of the config", async () => {
    await write("svc.json", { gateway: { mode: "local" }, env: { vars: { SVC_GATEWAY_TOKEN: "from-vars" } } });
    expect(await address()).toBe("from-vars");
    expect(await address({ SVC_GATEWAY_TOKEN: "from-process" })).toBe("from-process");
  });

  test("also while the config is not valid otherwise", async () => {
    await write("svc.json", { ...local({ token: "${T}" }), nonsense: 1 });
    expect(await address({ T: "from-process" })).toBe("from-process");
  });
});

test("an unreadable .env is told and stops nothing", async () => {
  await mkdir(join(state, ".env"));
  await write("svc.json", local({ mode: "none" }));
  const { code, err } = await svc(["secrets", "audit"]);
  expect(code).toBe(0);
  expect(err).toBe(`svc: not read: ${join(state, ".env")}: is not a regular file\n`);
});
