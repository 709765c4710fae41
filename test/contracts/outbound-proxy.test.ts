import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddingProvider, ModelDelta, ModelRequest } from "svc/sdk";
import { embeddingContext, eventually } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { createHttpPool, type HttpPool } from "../../kernel/process/http/pool.ts";
import { createBedrockAdapter } from "../../plugins/embed-bedrock/adapter.ts";
import { createProvider } from "../../plugins/model-openai-compatible/provider.ts";
import { createVendorFetch } from "../../sdk/internal/model/vendor-fetch.ts";
import { type FakeBedrock, startFakeBedrock } from "../fakes/embedding-bedrock.ts";
import { okText } from "../fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { type ConnectProxy, startConnectProxy } from "../servers/connect-proxy.ts";
import { needs } from "../servers/needs.ts";
import { startTlsFront, type TlsFront } from "../servers/tls-front.ts";

const { describe, test } = needs("openssl");

const MODELS = "models.example";
/** A group of hosts: no connection goes there, and none is tried for long. */
const NOWHERE = "224.0.0.1";
const BEDROCK = "bedrock-runtime.us-east-1.amazonaws.com";
const TOKENS = "sts.us-east-1.amazonaws.com";
const PORTAL = "portal.sso.us-east-1.amazonaws.com";

let folder: string;
let chat: FakeOpenAi;
let bedrock: FakeBedrock;
let fronts: Record<string, TlsFront>;
let ca: string;
let proxy: ConnectProxy;
let closing: Array<() => unknown>;
const lasting: Array<() => unknown> = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-outbound-"));
  [chat, bedrock] = await Promise.all([startFakeOpenAi(), startFakeBedrock({ sessionToken: "session/of+a+role==" })]);
  const service = await startCredentialService(bedrock);
  const plain = { [MODELS]: chat.url, [BEDROCK]: bedrock.url, [TOKENS]: service, [PORTAL]: service };
  const started = Object.entries(plain).map(async ([host, url]) => [host, await startTlsFront(folder, host, url)] as const);
  fronts = Object.fromEntries(await Promise.all(started));
  ca = (await Promise.all(Object.values(fronts).map((front) => readFile(front.ca, "utf8")))).join("");
});

afterAll(async () => {
  for (const front of Object.values(fronts)) front.close();
  await Promise.all([chat.close(), bedrock.close(), ...lasting.map((close) => close())]);
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  closing = [];
  chat.requests.length = 0;
  bedrock.requests.length = 0;
  proxy = await startConnectProxy(Object.fromEntries(Object.entries(fronts).map(([host, { port }]) => [`${host}:443`, port])));
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await proxy.close();
});

/** Answers a role's credentials, by the protocol of the token service or of the sign-in portal. */
async function startCredentialService({ identity }: FakeBedrock): Promise<string> {
  const server = createServer((req, res) => {
    req.resume();
    if (req.url === "/federation/credentials?role_name=embed%27s&account_id=123456789012")
      return res.setHeader("content-type", "application/json").end(JSON.stringify({ roleCredentials: { ...identity, expiration: 4e12 } }));
    res.setHeader("content-type", "text/xml").end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
      <AccessKeyId>${identity.accessKeyId}</AccessKeyId><SecretAccessKey>${identity.secretAccessKey}</SecretAccessKey>
      <SessionToken>${identity.sessionToken}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  lasting.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pool(env: Record<string, string> = { HTTPS_PROXY: withPassword() }): HttpPool {
  const made = createHttpPool({ env, userAgent: "svc-plugin/test", signal: new AbortController().signal, ca });
  closing.push(() => made.close());
  return made;
}

const withPassword = () => proxy.url.replace("http://", "http://me:pass-word@");
const targets = () => [...new Set(proxy.tunnels.map(({ target }) => target))].sort();
const passed = () => Buffer.concat(proxy.tunnels.flatMap((tunnel) => tunnel.passed)).toString("latin1");

const logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => logger,
};

describe("chat models", () => {
  const provider = ({ pool: { request } = pool(), host = MODELS } = {}) =>
    createProvider(
      {
        id: "lab",
        name: "lab",
        baseUrl: `https://${host}/v1`,
        apiKey: chat.apiKey,
        headers: {},
        timeoutMs: 30_000,
        firstAnswerMs: 30_000,
        models: [],
      },
      { fetch: createVendorFetch(request, 30_000), clock: { now: Date.now, monotonic: () => performance.now() }, logger },
    );
  const request = (model: string): ModelRequest => ({
    model,
    system: "",
    messages: [{ role: "user", content: [{ type: "text", text: "Where is the router?" }] }],
    tools: [],
    context: { agentId: "main", sessionKey: "agent:main:main", runId: "r1" },
  });
  const collect = async (from: ReturnType<typeof provider>, model: string, signal = new AbortController().signal) => {
    const deltas: ModelDelta[] = [];
    for await (const delta of from.stream(request(model), { signal })) deltas.push(delta);
    return deltas;
  };

  test("answer through the proxy, over one tunnel that shows it neither key nor question", async () => {
    const lab = provider();
    for (let i = 0; i < 3; i++) {
      const deltas = await collect(lab, "ok");
      expect(deltas.map((delta) => (delta.type === "text" ? delta.delta : "")).join("")).toBe(okText);
    }
    expect(await lab.models()).toEqual([{ id: "ok" }, { id: "tool" }]);
    expect(chat.requests).toHaveLength(4);
    expect(targets()).toEqual([`${MODELS}:443`]);
    expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
    for (const text of [chat.apiKey, "router", "/v1/"]) expect(passed()).not.toContain(text);
  });

  test("that are aborted in mid-answer end the tunnel and the answer behind it", async () => {
    const stop = new AbortController();
    const arrived = chat.nextRequest();
    const run = collect(provider(), "slow-drip", stop.signal);
    run.catch(() => undefined);
    const sent = await arrived;
    stop.abort(new Error("user pressed stop"));
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(await sent.ended).toEqual({ aborted: true });
  });

  test("are a network fault that names the proxy, without its password, when it refuses", async () => {
    proxy.mode = 407;
    const lab = provider();
    const said = `the proxy ${proxy.url} asks for a user and a password, or rejects the given ones (407); check HTTPS_PROXY and NO_PROXY`;
    await expect(collect(lab, "ok")).rejects.toMatchObject({ name: "ModelError", fault: "network", message: `provider "lab": ${said}` });
    expect(await lab.probe?.({ signal: new AbortController().signal })).toEqual({
      ok: false,
      fault: "network",
      reason: `https://${MODELS}/v1 does not answer (${said})`,
    });
    expect(chat.requests).toEqual([]);
  });

  test("whose host NO_PROXY lists are asked directly", async () => {
    const direct = provider({ pool: pool({ HTTPS_PROXY: proxy.url, NO_PROXY: "224.0.0.0/4" }), host: NOWHERE });
    await expect(collect(direct, "ok")).rejects.toMatchObject({ fault: "network", message: expect.not.stringContaining("proxy") });
    expect(proxy.tunnels).toEqual([]);
  });
});

describe("Bedrock", () => {
  /** The thread with the AWS client starts once; each test has connections of its own. */
  let present: HttpPool;
  let provider: EmbeddingProvider;
  let release: () => Promise<unknown>;

  const open = async (env: Record<string, string>) => {
    const { adapter, close } = createBedrockAdapter({ env: { HOME: folder, ...env }, request: (...asked) => present.request(...asked) });
    return { close, provider: (await adapter.create(embeddingContext({}))).provider };
  };

  beforeAll(async () => {
    const { accessKeyId, secretAccessKey, sessionToken = "" } = bedrock.identity;
    const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken };
    const opened = await open(keys);
    provider = opened.provider;
    release = opened.close;
  });

  afterAll(() => release());

  beforeEach(() => {
    present = pool();
  });

  test("embeds through the proxy, over tunnels that show it neither credentials nor text", async () => {
    expect(await provider.embedQuery("the boiler needs 1.4 bar")).toHaveLength(1024);
    expect(await provider.embedBatch(["a note", "another"])).toHaveLength(2);
    expect(bedrock.requests).toHaveLength(3);
    expect(targets()).toEqual([`${BEDROCK}:443`]);
    for (const text of ["AKIAFAKE", "session/of", "boiler", "/model/"]) expect(passed()).not.toContain(text);
  });

  test("gets its role's credentials through the proxy, too", async () => {
    const token = join(folder, "token");
    await writeFile(token, "a-token-of-an-identity");
    const role = { AWS_ROLE_ARN: "arn:aws:iam::1:role/embed", AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_REGION: "us-east-1" };
    const own = await open(role);
    closing.push(own.close);
    expect(await own.provider.embedQuery("hi")).toHaveLength(1024);
    expect(targets()).toEqual([`${BEDROCK}:443`, `${TOKENS}:443`].sort());
  });

  test("gets credentials of a sign-in at the portal through the proxy, too", async () => {
    const start = "https://sign-in.example/start";
    const cache = join(folder, ".aws", "sso", "cache");
    await mkdir(cache, { recursive: true });
    const token = { startUrl: start, region: "us-east-1", accessToken: "signed-in", expiresAt: "2099-01-01T00:00:00Z" };
    await writeFile(join(cache, `${createHash("sha1").update(start).digest("hex")}.json`), JSON.stringify(token));
    const profile = { sso_start_url: start, sso_region: "us-east-1", sso_account_id: "123456789012", sso_role_name: "embed's" };
    const lines = Object.entries(profile).map(([name, value]) => `${name} = ${value}`);
    await writeFile(join(folder, ".aws", "config"), ["[profile notes]", ...lines].join("\n"));
    const own = await open({ AWS_PROFILE: "notes", AWS_REGION: "us-east-1" });
    closing.push(own.close);
    expect(await own.provider.embedQuery("hi")).toHaveLength(1024);
    expect(targets()).toEqual([`${BEDROCK}:443`, `${PORTAL}:443`].sort());
  });

  test("is a network fault that names the proxy, without its password, when it refuses", async () => {
    proxy.mode = 403;
    await expect(provider.embedQuery("hi")).rejects.toMatchObject({
      fault: "network",
      message: `embedding adapter "bedrock": the connection failed: the proxy ${proxy.url} refused a connection to ${BEDROCK}:443 (403); check HTTPS_PROXY and NO_PROXY`,
    });
    expect(bedrock.requests).toEqual([]);
  });

  test("ends a request whose caller has gone, and the tunnel with it", async () => {
    bedrock.faults.push("hang");
    const stop = new AbortController();
    const asked = expect(provider.embedQuery("hi", { signal: stop.signal })).rejects.toThrow("enough");
    await eventually(() => bedrock.requests.length === 1);
    stop.abort(new Error("enough"));
    await asked;
    expect(await bedrock.requests[0]?.ended).toEqual({ aborted: true });
  });
});
