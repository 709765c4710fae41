import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { credentialSource } from "./credential-source.ts";
import type { Env } from "./env.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-bedrock-"));
});
afterEach(() => rm(home, { recursive: true }));

async function sourceOf(env: Env, { maker = "", auto = true, token }: { maker?: string; auto?: boolean; token?: string } = {}) {
  const dmiVendorFile = join(home, "sys_vendor");
  if (maker !== "") await writeFile(dmiVendorFile, `${maker}\n`);
  return credentialSource({ HOME: home, ...env }, { auto, token, dmiVendorFile });
}

const none = { kind: "none" };
const given = { kind: "given" };
const files = { kind: "chain", metadata: false };
const everything = { kind: "chain", metadata: true };
const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
const off = { AWS_EC2_METADATA_DISABLED: "true" };

test("both keys or an API key are given; a profile goes before the keys", async () => {
  expect(await sourceOf(keys)).toEqual(given);
  expect(await sourceOf({}, { token: "t" })).toEqual(given);
  expect(await sourceOf({ ...keys, AWS_PROFILE: "p" })).toEqual(everything);
  expect(await sourceOf({ AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: " " })).toEqual(none);
});

test.each([
  "AWS_PROFILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_ROLE_ARN",
])("%s is a sign of metadata, unless that is switched off", async (name) => {
  expect(await sourceOf({ [name]: "x" })).toEqual(everything);
  expect(await sourceOf({ [name]: "x", ...off })).toEqual(files);
});

test("so is a machine made by Amazon, and no other", async () => {
  expect(await sourceOf({}, { maker: "Amazon EC2" })).toEqual(everything);
  expect(await sourceOf(off, { maker: "Amazon EC2" })).toEqual(none);
  expect(await sourceOf({}, { maker: "Laptops Inc." })).toEqual(none);
});

test("a shared file is read without asking for metadata, at its usual place or at another", async () => {
  await writeFile(join(home, "mine"), "");
  expect(await sourceOf({ AWS_CONFIG_FILE: join(home, "mine") })).toEqual(files);
  expect(await sourceOf({ AWS_SHARED_CREDENTIALS_FILE: join(home, "mine") })).toEqual(files);
  expect(await sourceOf({ AWS_SHARED_CREDENTIALS_FILE: home })).toEqual(none);
  await mkdir(join(home, ".aws"));
  await writeFile(join(home, ".aws", "credentials"), "");
  expect(await sourceOf({})).toEqual(files);
});

test("a provider that is named may ask everything", async () => {
  expect(await sourceOf({}, { auto: false })).toEqual(everything);
});
