import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { writeFileAtomic } from "../files.ts";
import type { ClientDevice, DeviceKey } from "./device.ts";

/** Tokens of this many gateways are kept; the oldest is forgotten first. */
const MAX_TOKENS = 100;

/** Content of the identity file. */
interface Identity {
  version: 1;
  /** PKCS #8, PEM. */
  privateKey: string;
  /** Gateway address → device token. */
  tokens: Record<string, string>;
}

/** Storage of the identity of a Node client. */
export interface NodeDeviceOptions {
  /** The file, mode 0600; `identity/device.json` of the state directory for the product's own commands. */
  path: string;
  /** Address of the gateway; a token is never shown to another one. */
  gateway: string;
  /** Make a key when there is none; default true. */
  create?: boolean;
}

/**
 * A device whose key pair lies in a file. A file that is damaged is reported, never replaced: a new key would have to be paired again.
 * @throws {Error} from `key()` and the token calls when the file cannot be read or written
 */
export function createNodeDevice({ path, gateway, create = true }: NodeDeviceOptions): ClientDevice {
  let known: Promise<Identity | undefined> | undefined;
  const identity = () => {
    known ??= readIdentity(path).then((found) => found ?? (create ? makeIdentity(path) : undefined));
    return known;
  };
  const change = async (edit: (tokens: Map<string, string>) => void) => {
    // Read anew: another command of the same installation may have stored its token meanwhile.
    const now = await readIdentity(path);
    if (!now) return;
    const tokens = new Map(Object.entries(now.tokens));
    edit(tokens);
    const newest = [...tokens].slice(-MAX_TOKENS);
    const next: Identity = { ...now, tokens: Object.fromEntries(newest) };
    await writeFileAtomic(path, `${JSON.stringify(next, null, 2)}\n`);
    known = Promise.resolve(next);
  };
  return {
    async key() {
      const found = await identity();
      return found && toDeviceKey(createPrivateKey(found.privateKey));
    },
    token: async () => {
      const tokens = (await identity())?.tokens ?? {};
      const token = Object.hasOwn(tokens, gateway) ? tokens[gateway] : undefined;
      return typeof token === "string" ? token : undefined;
    },
    keepToken: (token) =>
      change((tokens) => {
        tokens.delete(gateway); // to the end: the newest
        tokens.set(gateway, token);
      }),
    forgetToken: () => change((tokens) => tokens.delete(gateway)),
  };
}

/** The device side of a private key. */
export function toDeviceKey(privateKey: KeyObject): DeviceKey {
  const { x } = privateKey.export({ format: "jwk" });
  const publicKey = x ?? "";
  const id = createHash("sha256").update(Buffer.from(publicKey, "base64url")).digest("hex");
  return { id, publicKey, sign: async (text) => sign(null, Buffer.from(text), privateKey).toString("base64url") };
}

async function readIdentity(path: string): Promise<Identity | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const found = parse(text);
  if (!found) throw new Error(`${path} is damaged; restore it, or delete it and pair this device again`);
  return found;
}

function parse(text: string): Identity | undefined {
  try {
    const { version, privateKey, tokens } = JSON.parse(text) as Partial<Identity>;
    if (version !== 1 || typeof privateKey !== "string") return undefined;
    return { version, privateKey, tokens: typeof tokens === "object" && tokens !== null ? tokens : {} };
  } catch {
    return undefined;
  }
}

async function makeIdentity(path: string): Promise<Identity> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const made: Identity = { version: 1, privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), tokens: {} };
  await writeFileAtomic(path, `${JSON.stringify(made, null, 2)}\n`);
  return made;
}
