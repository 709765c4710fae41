import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BareSocket, challenged, connectParams } from "./_ws.ts";

const key = "sk-lab-0123456789";
let gateway: TestGateway;
beforeAll(async () => {
  const providers = { lab: { baseUrl: "http://127.0.0.1:9/v1", models: [{ id: "m" }], apiKey: { source: "env", id: "LAB_KEY" } as const } };
  const auth = { mode: "trusted-proxy", password: "local password", trustedProxy: { userHeader: "x-user", allowLoopback: true } } as const;
  gateway = await createTestGateway({
    plugins: ["model-openai-compatible"],
    config: { models: { providers }, gateway: { auth, trustedProxies: ["127.0.0.1"] } },
    env: { LAB_KEY: key },
  });
});
afterAll(() => gateway.close());

const question = { commandName: "agent", targetIds: ["models.providers.*.apiKey"] };

/** One question of a client with these scopes, on this machine or through the proxy. */
async function ask(
  params: object,
  { scopes = ["operator.admin"], headers = {} }: { scopes?: string[]; headers?: Record<string, string> } = {},
) {
  const socket: BareSocket = await challenged(gateway, headers);
  const auth = "x-user" in headers ? {} : { password: "local password" };
  expect(await socket.request("c", "connect", { ...connectParams(""), auth, scopes })).toMatchObject({ ok: true });
  const answer = await socket.request("r", "secrets.resolve", params);
  await socket.close();
  return answer;
}

describe("secrets.resolve", () => {
  test("gives an administrator on this machine the values of references", async () => {
    expect((await ask(question)).payload).toEqual({
      ok: true,
      assignments: [{ path: "models.providers.lab.apiKey", pathSegments: ["models", "providers", "lab", "apiKey"], value: key }],
      diagnostics: [],
      inactiveRefPaths: [],
    });
    expect(JSON.stringify(gateway.logs)).not.toContain(key);
  });

  test("gives nothing to an administrator behind a proxy", async () => {
    const headers = { "x-user": "ada", "x-forwarded-for": "203.0.113.9", host: "127.0.0.1" };
    const refused = await ask(question, { headers });
    expect(refused).toMatchObject({ ok: false, error: { code: "FORBIDDEN", details: { code: "NOT_LOCAL" } } });
    expect(JSON.stringify(refused)).not.toContain(key);
  });

  test("gives nothing to who is no administrator", async () => {
    const refusal = { code: "FORBIDDEN", details: { missingScope: "operator.admin" } };
    expect(await ask(question, { scopes: ["operator.write", "operator.pairing"] })).toMatchObject({ ok: false, error: refusal });
  });

  test.each([{}, { commandName: "agent" }, { commandName: "agent", targetIds: [] }, { commandName: "agent", targetIds: ["gateway.port"] }])(
    "with %j is an invalid request",
    async (params) => {
      const message = expect.stringContaining("invalid secrets.resolve params");
      expect(await ask(params)).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST", message } });
    },
  );
});
