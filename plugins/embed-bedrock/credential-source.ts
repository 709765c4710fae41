import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { readEnv } from "svc/sdk";
import { type Env, isMetadataDisabled } from "./env.ts";

/** Source of the credentials, as far as it is known without the vendor's package. */
export type CredentialSource =
  /** Credentials from the environment. */
  | { kind: "given" }
  /** The chain has to be asked. `metadata`: it may ask the address of instance metadata. */
  | { kind: "chain"; metadata: boolean }
  | { kind: "none" };

/** Variables that tell of an identity which comes from outside this machine. */
const signals = [
  "AWS_PROFILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_ROLE_ARN",
];

/** Maker of the machine, where Linux tells it. */
export const DMI_VENDOR_FILE = "/sys/class/dmi/id/sys_vendor";

/**
 * Where credentials may come from. For auto-detection the metadata address counts only with a sign of it, and a machine without any sign of credentials
 * loads nothing: a bare laptop would wait a second for an address that is not there.
 */
export async function credentialSource(
  env: Env,
  { auto, token, dmiVendorFile }: { auto: boolean; token: string | undefined; dmiVendorFile: string },
): Promise<CredentialSource> {
  if (token !== undefined) return { kind: "given" };
  const hasKeys = readEnv(env, "AWS_ACCESS_KEY_ID") !== undefined && readEnv(env, "AWS_SECRET_ACCESS_KEY") !== undefined;
  if (hasKeys && readEnv(env, "AWS_PROFILE") === undefined) return { kind: "given" };
  if (!auto) return { kind: "chain", metadata: true };
  const hasSignal = signals.some((name) => readEnv(env, name) !== undefined);
  const metadata = !isMetadataDisabled(env) && (hasSignal || (await isEc2(dmiVendorFile)));
  if (metadata || hasSignal || hasKeys || (await hasSharedFile(env))) return { kind: "chain", metadata };
  return { kind: "none" };
}

async function isEc2(dmiVendorFile: string): Promise<boolean> {
  const vendor = await readFile(dmiVendorFile, "utf8").catch(() => "");
  return vendor.trim() === "Amazon EC2";
}

async function hasSharedFile(env: Env): Promise<boolean> {
  const folder = join(readEnv(env, "HOME") ?? readEnv(env, "USERPROFILE") ?? homedir(), ".aws");
  const files = [
    readEnv(env, "AWS_SHARED_CREDENTIALS_FILE") ?? join(folder, "credentials"),
    readEnv(env, "AWS_CONFIG_FILE") ?? join(folder, "config"),
  ];
  const found = await Promise.all(
    files.map((file) =>
      stat(file).then(
        (info) => info.isFile(),
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
