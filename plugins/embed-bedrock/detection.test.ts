import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddingContext } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { createTestRequests, embeddingContext, fakeClock, type TestRequests } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeBedrock, startFakeBedrock } from "../../test/fakes/embedding-bedrock.ts";
import { type FakeMetadata, startFakeMetadata } from "../../test/fakes/instance-metadata.ts";
import { createBedrockAdapter } from "./adapter.ts";
import type { Env } from "./env.ts";

let home: string;
let vendor: FakeBedrock;
let metadata: FakeMetadata;
let requests: TestRequests;
let opened: Array<() => Promise<void>>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-bedrock-"));
  await mkdir(join(home, ".aws"));
  vendor = await startFakeBedrock({ sessionToken: "session/of+a+role==" });
  metadata = await startFakeMetadata(vendor.identity);
  requests = createTestRequests();
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((close) => close()));
  await Promise.all([requests.close(), vendor.close(), metadata.close(), rm(home, { recursive: true })]);
});

/** An adapter on a machine with these variables; the metadata address is always there to be asked. */
function machine(env: Env, { maker = "Laptops Inc." } = {}) {
  const dmiVendorFile = join(home, "sys_vendor");
  const { adapter, close } = createBedrockAdapter({
    env: { HOME: home, AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url, ...env },
    request: requests.request,
    dmiVendorFile,
  });
  opened.push(close);
  const create = async (own: Partial<EmbeddingContext>) => {
    await writeFile(dmiVendorFile, `${maker}\n`);
    const config = parseSharedConfig({ models: { providers: { "amazon-bedrock": { baseUrl: vendor.url } } } });
    return adapter.create(embeddingContext({ auto: true, config, ...own }));
  };
  return { create };
}

const credentialsFile = (text: string) => writeFile(join(home, ".aws", "credentials"), text);
const ownKeys = () =>
  [
    `aws_access_key_id = ${vendor.identity.accessKeyId}`,
    `aws_secret_access_key = ${vendor.identity.secretAccessKey}`,
    `aws_session_token = ${vendor.identity.sessionToken}`,
  ].join("\n");

describe("auto-detection", () => {
  test("finds nothing on a machine without a sign of credentials, and asks no metadata address", async () => {
    const failure = { name: "EmbeddingError", fault: "no-credentials", message: expect.stringContaining("no sign of any") };
    await expect(machine({}).create({})).rejects.toMatchObject(failure);
    await expect(machine({ AWS_ACCESS_KEY_ID: "half" }).create({})).rejects.toMatchObject(failure);
    expect(metadata.requests).toEqual([]);
  });

  test("asks the chain when there is a shared file, but no metadata address", async () => {
    await writeFile(join(home, ".aws", "config"), "[default]\nregion = eu-west-1\n");
    await expect(machine({}).create({})).rejects.toMatchObject({ fault: "no-credentials" });
    expect(metadata.requests).toEqual([]);
  });

  test("takes the keys of the environment without asking anybody", async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = vendor.identity;
    const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken };
    const { provider } = await machine(env).create({});
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);
    expect(metadata.requests).toEqual([]);
    expect(vendor.requests[0]?.headers["x-amz-security-token"]).toBe(sessionToken);
  });

  test("takes an API key of Bedrock as credentials", async () => {
    const { provider } = await machine({ AWS_BEARER_TOKEN_BEDROCK: "a-key" }).create({});
    expect(provider.id).toBe("bedrock");
    expect(metadata.requests).toEqual([]);
  });

  test("takes the shared credentials file, also a profile of it and one at another place", async () => {
    await credentialsFile(`[default]\n${ownKeys()}\n[other]\naws_access_key_id = x\naws_secret_access_key = y\n`);
    const { provider } = await machine({}).create({});
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);

    await credentialsFile(`[default]\naws_access_key_id = x\naws_secret_access_key = y\n[other]\n${ownKeys()}\n`);
    const profiled = await machine({ AWS_PROFILE: "other" }).create({});
    await expect(profiled.provider.embedQuery("hello")).resolves.toHaveLength(1024);

    await writeFile(join(home, "elsewhere"), `[default]\n${ownKeys()}\n`);
    await credentialsFile("");
    const moved = await machine({ AWS_SHARED_CREDENTIALS_FILE: join(home, "elsewhere") }).create({});
    await expect(moved.provider.embedQuery("hello")).resolves.toHaveLength(1024);
    expect(metadata.requests).toEqual([]);
  });

  test("takes a credential process of the profile", async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = vendor.identity;
    const answer = { Version: 1, AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken };
    await writeFile(join(home, "answer.json"), JSON.stringify(answer));
    await writeFile(join(home, ".aws", "config"), `[default]\ncredential_process = /bin/cat ${join(home, "answer.json")}\n`);
    const { provider } = await machine({}).create({});
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);
  });

  test.each([
    ["a profile", { AWS_PROFILE: "on-the-instance" }],
    ["a role", { AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/x" }],
  ])("with %s asks the metadata address", async (_name, env) => {
    const { provider } = await machine(env).create({});
    expect(metadata.requests[0]).toBe("PUT /latest/api/token");
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);
  });

  test("on a machine made by Amazon asks the metadata address", async () => {
    const { provider } = await machine({}, { maker: "Amazon EC2" }).create({});
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);
    expect(metadata.requests).toHaveLength(3);
  });

  test("in a container asks the address of the container", async () => {
    const { provider } = await machine({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.url}/container` }).create({});
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);
    expect(metadata.requests).toEqual(["GET /container"]);
  });

  test("never asks the metadata address when AWS_EC2_METADATA_DISABLED is true", async () => {
    const env = { AWS_EC2_METADATA_DISABLED: "true" };
    await expect(machine(env, { maker: "Amazon EC2" }).create({})).rejects.toMatchObject({ fault: "no-credentials" });
    await expect(machine({ ...env, AWS_PROFILE: "x" }).create({})).rejects.toMatchObject({ fault: "no-credentials" });
    expect(metadata.requests).toEqual([]);
  });

  test("does not wait for a metadata address that never answers", async () => {
    const silent = await startFakeMetadata(undefined);
    opened.push(() => silent.close());
    const env = { AWS_EC2_METADATA_SERVICE_ENDPOINT: silent.url };
    await expect(machine(env, { maker: "Amazon EC2" }).create({})).rejects.toMatchObject({ fault: "no-credentials" });
    expect(silent.requests.length).toBeGreaterThan(0);
  });

  test("keeps its answer for five minutes, a no as well as a yes", async () => {
    const clock = fakeClock();
    const { create } = machine({}, { maker: "Amazon EC2" });
    const asked = async () => {
      const { provider } = await create({ clock });
      await provider.close?.();
      return metadata.requests.filter((line) => line.startsWith("PUT")).length;
    };
    expect(await asked()).toBe(1);
    await clock.advance(299_000);
    expect(await asked()).toBe(1);
    await clock.advance(2_000);
    expect(await asked()).toBe(2);

    const without = machine({});
    await writeFile(join(home, ".aws", "config"), "[default]\n");
    await expect(without.create({ clock })).rejects.toMatchObject({ fault: "no-credentials" });
    await credentialsFile(`[default]\n${ownKeys()}\n`);
    await expect(without.create({ clock })).rejects.toMatchObject({ fault: "no-credentials" });
    await clock.advance(301_000);
    await expect(without.create({ clock })).resolves.toMatchObject({ provider: { id: "bedrock" } });
  });
});

test("without its name the agent's server and key are not for this adapter", async () => {
  const other = { baseUrl: "http://127.0.0.1:1", apiKey: "of-another-vendor", headers: { "x-other": "1" } };
  const { accessKeyId, secretAccessKey, sessionToken } = vendor.identity;
  const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken };
  const { provider, identity } = await machine(env).create({ remote: other });
  await provider.embedQuery("hello");
  expect(vendor.requests).toHaveLength(1);
  expect(JSON.stringify([identity, vendor.requests[0]?.headers])).not.toMatch(/127\.0\.0\.1:1"|of-another-vendor|x-other/);
});

describe("a provider that is named", () => {
  test("may always ask the metadata address", async () => {
    const { provider } = await machine({}).create({ auto: false });
    await expect(provider.embedQuery("hello")).resolves.toHaveLength(1024);
    expect(metadata.requests).toHaveLength(3);
  });

  test("is refused without credentials, with what to do; a sign-in is seen with the next try", async () => {
    const { create } = machine({ AWS_EC2_METADATA_DISABLED: "true" });
    await expect(create({ auto: false })).rejects.toMatchObject({
      fault: "no-credentials",
      message: expect.stringMatching(/^embedding adapter "bedrock": there are no usable AWS credentials: .*; set AWS_ACCESS_KEY_ID/),
    });
    await credentialsFile(`[default]\n${ownKeys()}\n`);
    await expect(create({ auto: false })).resolves.toMatchObject({ provider: { id: "bedrock" } });
  });
});
