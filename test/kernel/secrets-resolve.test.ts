import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const key = "sk-lab-0123456789";
let gateway: TestGateway;
beforeAll(async () => {
  const apiKey = { source: "env", id: "LAB_KEY" } as const;
  const providers = { lab: { baseUrl: "http://127.0.0.1:9/v1", models: [{ id: "m" }], apiKey } };
  const trusted = { trustedProxies: ["127.0.0.1"] };
  gateway = await createTestGateway({ plugins: ["model-openai-compatible"], config: { models: { providers }, gateway: trusted }, env: { LAB_KEY: key } });
});
afterAll(() => gateway.close());

const question = { commandName: "agent", targetIds: ["models.providers.*.apiKey"] };

describe("secrets.resolve", () => {
  test("gives an administrator on this machine the values of references", async () => {
    expect(await gateway.rpc("secrets.resolve", question)).toEqual({
      ok: true,
      assignments: [{ path: "models.providers.lab.apiKey", pathSegments: ["models", "providers", "lab", "apiKey"], value: key }],
      diagnostics: [],
      inactiveRefPaths: [],
    });
    expect(JSON.stringify(gateway.logs)).not.toContain(key);
  });

  test("gives nothing to anybody else", async () => {
    const others = await gateway.client({ scopes: ["operator.write", "operator.approvals", "operator.pairing"] });
    const refusal = { code: "FORBIDDEN", details: { missingScope: "operator.admin" } };
    await expect(others.request("secrets.resolve", question)).rejects.toMatchObject(refusal);
  });

  test.each([{}, { commandName: "agent" }, { commandName: "agent", targetIds: [] }, { commandName: "agent", targetIds: ["gateway.port"] }])(
    "with %j is an invalid request",
    async (params) => {
      const message = expect.stringContaining("invalid secrets.resolve params");
      await expect(gateway.rpc("secrets.resolve", params)).rejects.toMatchObject({ code: "INVALID_REQUEST", message });
    },
  );
});
