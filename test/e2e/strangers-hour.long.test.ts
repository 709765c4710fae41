import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { makeCertificate } from "../servers/certificate.ts";
import { startInForeground } from "../servers/foreground.ts";
import { needs, skippedFor } from "../servers/needs.ts";
import { freePort } from "../servers/ports.ts";
import { isRegistryThere } from "../servers/registry.ts";
import { buildChatModel } from "../tools/make-tiny-gguf.mjs";
import { gatewayIn, stopAll, stopLater } from "./_cli.ts";
import { packProduct } from "./_packed.ts";
import type { Running } from "./_process.ts";
import { commitBeforeSchema, createStranger, packOld, type Stranger } from "./_stranger.ts";

const isInstallable = process.platform === "linux" && (await isRegistryThere());
const hour = isInstallable ? describe : skippedFor("Linux and the npm registry").describe;
const before = await commitBeforeSchema();
const withHistory = before === undefined ? skippedFor("the history of this repository") : { test };
const withNginx = needs("nginx", "openssl");

const hookToken = "hooks-of-the-stranger-0001";
const NOTE = "# Pantry\n\nThe kettle is green and stands in the pantry.\n";
const QUESTION = "Which colour is the kettle?";

async function writeNote({ home }: Stranger): Promise<void> {
  await mkdir(join(home.stateDir, "workspace/memory"), { recursive: true });
  await writeFile(join(home.stateDir, "workspace/memory/kettle.md"), NOTE);
}

/** Asks until the note is found: a new one is searchable within seconds. */
const askOfKettle = (svc: Stranger["svc"]) =>
  eventually(async () => {
    const answer = await svc("agent", "--message", QUESTION);
    return answer.includes("The kettle is green") && answer;
  }, 60_000);

/** Messages of a conversation, as JSON. */
const historyOf = async (svc: Stranger["svc"], key: string) => {
  const told = await svc("gateway", "call", "chat.history", "--params", JSON.stringify({ sessionKey: key }), "--json");
  return JSON.stringify((JSON.parse(told) as { messages: object[] }).messages);
};
const sessionsOf = async (svc: Stranger["svc"]) => {
  const { sessions } = JSON.parse(await svc("sessions", "list", "--json")) as { sessions: Array<{ key: string }> };
  return sessions.map(({ key }) => key).sort();
};

async function chatOverHttp({ svc }: Stranger, { url }: Running, sessionKey: string): Promise<string> {
  const secret = (await svc("dashboard", "--secret")).trim();
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "x-svc-session-key": sessionKey },
    body: JSON.stringify({ model: "svc", messages: [{ role: "user", content: QUESTION }] }),
  });
  return answer.text();
}

hour("from the tarball", () => {
  let stranger: Stranger;
  let gateway: Running;
  /** Commands that find the gateway at its port. */
  let svc: Stranger["svc"];

  beforeAll(async () => {
    stranger = await createStranger();
    await stranger.install((await packProduct()).tarball);
    await stranger.svc("setup", "--non-interactive");
    gateway = await gatewayIn(stranger.home);
    stranger.home.env.SVC_GATEWAY_PORT = String(gateway.port);
    svc = stranger.svc;
    await writeNote(stranger);
  }, 300_000);
  afterAll(stopAll);

  test("the built-in model answers from a note with its source, by command and over HTTP", async () => {
    expect(await askOfKettle(svc)).toContain("memory/kettle.md#L1-L3");
    expect(await chatOverHttp(stranger, gateway, "pantry")).toContain("The kettle is green");
    expect(await svc("doctor")).toContain("errors 0, warnings 0");
  }, 120_000);

  withNginx.test(
    "nginx with the example in the package serves the page and the API over HTTPS",
    async () => {
      await mkdir(join(stranger.folder, "nginx"));
      const host = "svc.example.com";
      const certificate = await makeCertificate(stranger.folder, "nginx", host);
      const port = await freePort();
      const example = await readFile(join(stranger.folder, "prefix/lib/node_modules/svc/examples/deploy/nginx.conf"), "utf8");
      const site = example
        .replaceAll(/listen .*443 ssl;/g, "")
        .replace("server_name", `listen 127.0.0.1:${port} ssl;\n    server_name`)
        .replace("127.0.0.1:18789", `127.0.0.1:${gateway.port}`)
        .replace(/\/etc\/letsencrypt\S+fullchain\.pem/, certificate.cert)
        .replace(/\/etc\/letsencrypt\S+privkey\.pem/, certificate.key);
      const config = join(stranger.folder, "nginx.conf");
      await writeFile(config, `daemon off;\nmaster_process off;\npid nginx/pid;\nevents {}\nhttp {\naccess_log off;\n${site}\n}\n`);
      const nginx = await startInForeground("nginx", ["-p", stranger.folder, "-e", "nginx/error.log", "-c", config], { ports: [port] });
      stopLater(() => nginx.end("SIGKILL"));
      await svc("config", "set", "gateway.trustedProxies", '["127.0.0.1"]');
      await svc("config", "set", "gateway.publicOrigin", `https://${host}`);
      await svc("config", "set", "gateway.controlUi.allowedOrigins", `["https://${host}"]`);

      const ca = await readFile(certificate.cert);
      const authorization = `Bearer ${(await svc("dashboard", "--secret")).trim()}`;
      const get = (path: string, headers = {}) =>
        new Promise<{ status: number; body: string }>((resolve, reject) => {
          const options = { host: "127.0.0.1", port, path, servername: host, ca, agent: false, headers: { host, ...headers } };
          const req = request(options, (res) => {
            let body = "";
            res.on("data", (chunk: Buffer) => (body += chunk));
            res.on("end", () => resolve({ status: res.statusCode ?? 0, body }));
          });
          req.on("error", reject);
          req.end();
        });
      expect(await get("/")).toMatchObject({ status: 200, body: expect.stringContaining("<html") });
      expect((await get("/v1/models")).status).toBe(401);
      expect(await get("/v1/models", { authorization })).toMatchObject({ status: 200, body: expect.stringContaining("svc/main") });
    },
    60_000,
  );

  test("a GGUF file answers once its runtime is installed", async () => {
    const path = join(stranger.folder, "tiny.gguf");
    await writeFile(path, buildChatModel({ ctx: 16_384 }));
    await svc("models", "runtime", "install");
    await svc("config", "set", "models.providers.local", JSON.stringify({ models: [{ id: "tiny", modelPath: path }] }));
    expect(await svc("models", "test", "local/tiny")).toMatch(/local\/tiny: answered in/);
    await svc("config", "unset", "models.providers.local");
  }, 300_000);

  test("a backup is restored beside the running gateway, with the same conversations, notes and answers", async () => {
    await svc("backup", "create", "monday");
    expect(await svc("backup", "verify", "monday")).toContain("whole");
    const second = { SVC_STATE_DIR: join(stranger.folder, "second"), SVC_GATEWAY_PORT: String(await freePort()) };
    expect(await stranger.svcWith(second, "backup", "restore", "monday")).toMatchObject({ code: 0 });
    const mended = await stranger.svcWith(second, "doctor", "--fix");
    expect(mended).toMatchObject({ code: 0, stdout: expect.stringContaining("a fresh token is in gateway.auth.token") });
    const other = await gatewayIn({ ...stranger.home, stateDir: second.SVC_STATE_DIR }, [], second);

    const there: Stranger["svc"] = async (...args) => (await stranger.svcWith(second, ...args)).stdout;
    expect(await sessionsOf(there)).toEqual(await sessionsOf(svc));
    expect(await historyOf(there, "pantry")).toBe(await historyOf(svc, "pantry"));
    expect(await askOfKettle(there)).toContain("memory/kettle.md#L1-L3");
    expect(other.out.stdout + other.out.stderr).not.toContain("is shared with another gateway");
    expect(other.port).not.toBe(gateway.port);
  }, 120_000);
});

hour("over the release before", () => {
  afterEach(stopAll);

  withHistory.test(
    "a new version takes conversations, notes and waiting deliveries over, and keeps a copy of the database",
    async () => {
      const stranger = await createStranger();
      const { svc, home, folder } = stranger;
      await stranger.install(await packOld(before as string, folder));
      await svc("setup", "--non-interactive");
      const old = await gatewayIn(home);
      home.env.SVC_GATEWAY_PORT = String(old.port);
      await writeNote(stranger);
      await askOfKettle(svc);
      await chatOverHttp(stranger, old, "pantry");
      await leaveDelivery(stranger, old);
      expect(await old.kill("SIGTERM")).toBe(0);
      const schema = await schemaOf(home.stateDir);

      await stranger.install((await packProduct()).tarball);
      await svc("backup", "create", "before-upgrade", "--with-secrets");
      expect(await svc("backup", "verify", "before-upgrade")).toContain("whole");
      await svc("config", "unset", "agents.defaults.model");
      await svc("config", "unset", "models.providers.down");
      expect(await svc("config", "validate")).toContain("is valid");
      const now = await gatewayIn(home);

      const copy = (await readdir(home.stateDir)).filter((name) => name.startsWith(`state.sqlite.pre-${schema}-`));
      expect(copy).toHaveLength(1);
      expect(now.out.stdout + now.out.stderr).toMatch(new RegExp(`state database migrated .*${copy[0]}`));
      expect(await sessionsOf(svc)).toEqual(expect.arrayContaining(["agent:main:main", "agent:main:pantry"]));
      expect(await historyOf(svc, "pantry")).toContain("The kettle is green");
      expect(await askOfKettle(svc)).toContain("memory/kettle.md#L1-L3");
      await eventually(async () => (await svc("hooks", "list")).includes("0 waiting, 0 running, 0 failed"), 90_000);
      expect((await sessionsOf(svc)).filter((key) => key.includes(":hook:"))).toHaveLength(1);
      expect(await svc("doctor")).toContain("errors 0");
    },
    600_000,
  );
});

/** A delivery that was accepted and waits, because its model is not there. */
async function leaveDelivery({ svc }: Stranger, { url }: Running): Promise<void> {
  const nobody = `http://127.0.0.1:${await freePort()}/v1`;
  await svc("config", "set", "models.providers.down", JSON.stringify({ baseUrl: nobody, auth: "none", models: [{ id: "m" }] }));
  await svc("config", "set", "agents.defaults.model", "down/m");
  await svc("config", "set", "hooks.token", hookToken);
  await svc("config", "set", "hooks.enabled", "true");
  const answer = await fetch(`${url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", "idempotency-key": "bill" },
    body: JSON.stringify({ message: QUESTION }),
  });
  expect(answer.status).toBe(200);
  await eventually(async () => (await svc("hooks", "list")).includes("1 waiting"), 30_000);
}

async function schemaOf(stateDir: string): Promise<number> {
  // `PRAGMA user_version`, in the file's header.
  return (await readFile(join(stateDir, "state.sqlite"))).readUInt32BE(60);
}
