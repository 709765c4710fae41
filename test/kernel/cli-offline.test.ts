import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-next-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** `svc` in a home where no gateway runs. */
function svc(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return svcWith({}, ...argv);
}

async function svcWith(env: Record<string, string>, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: "", err: "" };
  const code = await runCommandLine(argv, {
    // A port where nothing listens.
    env: { HOME: home, SVC_GATEWAY_PORT: "1", SVC_SERVICE_PLATFORM: "linux", ...env },
    cwd: home,
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    interrupt: () => ({ signal: new AbortController().signal, exitCode: (given) => given, dispose: () => undefined }),
  });
  return { code, ...written };
}

test("set-up ends with the command that starts this profile", async () => {
  expect((await svc("setup")).out).toMatch(/^Next: +svc gateway$/m);
  expect((await svc("--profile", "work", "setup")).out).toMatch(/^Next: +svc --profile work gateway$/m);
});

test("set-up that is the first half of a start names no next step", async () => {
  const { code, out } = await svc("setup", "--non-interactive", "--if-missing", "--then-start");
  expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining("Next:") });
});

test("without a config the next step is to set up, and not a start that would be refused", async () => {
  expect((await svc("gateway", "status")).out).toMatch(/^Set it up with: svc setup$/m);
  expect((await svc("--profile", "work", "gateway", "status")).out).toMatch(/^Set it up with: svc --profile work setup$/m);
  expect((await svc("health")).err).toContain("connection refused; set it up with: svc setup\n");
  expect((await svc("dashboard")).err).toBe("No gateway runs here yet; set it up with: svc setup\n");
  expect((await svc("gateway", "hints")).out).toMatch(/^No gateway runs here yet; set it up with: \S.* setup$/m);
});

test("with a config the next step is to start it, in its profile", async () => {
  await svc("--profile", "work", "setup");
  expect((await svc("--profile", "work", "gateway", "status")).out).toMatch(/^Start it with: svc --profile work gateway$/m);
  expect((await svc("--profile", "work", "status")).err).toContain("; start it with: svc --profile work gateway\n");
});

test("gateway status says that no service is installed, in exactly the fields that it promises, and writes nothing", async () => {
  const { out, code } = await svc("gateway", "status", "--json");
  const value = JSON.parse(out);
  const service = {
    manager: "none",
    label: "svc-gateway.service",
    installed: false,
    enabled: false,
    definitionPath: null,
    runtime: { status: "stopped", pid: null, startedAt: null, lastExit: null },
    installedPort: null,
    audit: { ok: true, issues: [] },
  };
  expect({ code, service: value.service }).toEqual({ code: 1, service });
  expect(Object.keys(value)).toEqual([
    "ok",
    "cli",
    "service",
    "state",
    "config",
    "gateway",
    "port",
    "probe",
    "rpc",
    "reload",
    "otherServices",
    "lastRefusal",
    "logFile",
  ]);
  expect((await svc("gateway", "status")).out).toMatch(/^Service: not installed$/m);
  expect(await readdir(home)).toEqual([]);
});

test("a refused start ends with 78, and with 0 under launchd, which would try it again for ever; the reason stays on record", async () => {
  expect((await svc("gateway")).code).toBe(78);
  await rm(join(home, ".svc"), { recursive: true, force: true });
  expect((await svcWith({ SVC_SERVICE_MARKER: "ai.svc.gateway" }, "gateway")).code).toBe(0);
  expect((await svc("gateway", "status")).out).toMatch(/^Last refusal: .*Gateway start blocked: set gateway\.mode=local/m);
});

test("where no secret is found, dashboard --secret names the one of the mode", async () => {
  await svc("setup");
  const secretOf = async () => (await svc("dashboard", "--secret")).err;
  await svc("config", "unset", "gateway.auth.token");
  expect(await secretOf()).toContain("no gateway token was found; set gateway.auth.token, or SVC_GATEWAY_TOKEN");
  await svc("config", "set", "gateway.auth.mode", "password");
  expect(await secretOf()).toContain("no gateway password was found; set gateway.auth.password, or SVC_GATEWAY_PASSWORD");
  await svc("config", "set", "gateway.auth.mode", "none");
  expect(await secretOf()).toContain("gateway.auth.mode is none");
});

test.each(["--only", "--skip"])(
  "doctor %s with an id that no check has is refused with those there are, and finds nothing in silence",
  async (flag) => {
    await svc("setup");
    const { code, out, err } = await svc("doctor", flag, "config/perms,config/permz");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(
      new RegExp(
        `doctor ${flag}: unknown check "config/permz"; expected some of .*audit/chain, auth/ambiguous, .*hooks/broken.*memory/locked`,
      ),
    );
    expect(await svc("doctor", flag, "config/perms,memory/locked")).toMatchObject({ code: 0 });
  },
);

test("a secret that is a reference is no missing secret for doctor", async () => {
  await svc("setup");
  await writeFile(join(home, ".svc", ".env"), "OWN_TOKEN=0123456789abcdef0123456789abcdef\n", { mode: 0o600 });
  await svc("config", "set", "gateway.auth.token", "--ref-source", "env", "--ref-id", "OWN_TOKEN");
  const { out } = await svc("doctor");
  expect(out).not.toContain("auth/missing");
});

test("models are shown as config and environment have them, and no server is asked", async () => {
  const lab = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "sk-of-the-lab", models: [{ id: "m", contextWindow: 32_000 }] };
  const config = { models: { providers: { lab, nobody: { apiKey: "sk-of-nobody" } } }, agents: { defaults: { model: "lab/m" } } };
  await svc("setup");
  await writeFile(join(home, "models.json"), JSON.stringify(config));
  await svc("config", "patch", "--file", join(home, "models.json"));

  const status = await svc("models", "status");
  expect(status).toMatchObject({ code: 0, err: "Gateway not reachable — showing config only.\n" });
  expect(status.out).toMatch(/^ {2}main \(default\) {2}lab\/m {2}ready$/m);
  expect(status.out).toMatch(/^ {2}lab {2}ready {2}key from models\.providers\.lab\.apiKey$/m);
  expect(status.out).toMatch(/^Not used\n {2}nobody {2}no active plugin knows an address for it; set its baseUrl$/m);

  const { err, out } = await svc("models", "list", "--json");
  expect(err).toBe("");
  expect(JSON.parse(out)).toMatchObject({ ok: true, source: "config", models: [{ id: "m", provider: "lab" }, { provider: "recall" }] });
  expect((await svc("models", "test")).err).toContain("gateway not reachable");
});
