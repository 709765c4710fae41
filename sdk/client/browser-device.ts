import { type ClientDevice, type DeviceKey, toBase64Url } from "./device.ts";

/** Parts of IndexedDB and WebCrypto that are used; the tree is compiled without the DOM library. */
interface IdbRequest<T> {
  result: T;
  error: Error | null;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface IdbStore {
  get(key: string): IdbRequest<unknown>;
  put(value: unknown, key: string): IdbRequest<unknown>;
  delete(key: string): IdbRequest<unknown>;
}
interface IdbDatabase {
  transaction(store: string, mode: "readonly" | "readwrite"): { objectStore(name: string): IdbStore };
  createObjectStore(name: string): unknown;
  close(): void;
}
interface IdbFactory {
  open(name: string, version: number): IdbRequest<IdbDatabase> & { onupgradeneeded: (() => void) | null };
}
type CryptoKeyPair = { publicKey: object; privateKey: object };
interface Subtle {
  generateKey(algorithm: "Ed25519", extractable: boolean, usages: string[]): Promise<CryptoKeyPair>;
  exportKey(format: "raw", key: object): Promise<ArrayBuffer>;
  sign(algorithm: "Ed25519", key: object, data: Uint8Array): Promise<ArrayBuffer>;
  digest(algorithm: "SHA-256", data: ArrayBuffer): Promise<ArrayBuffer>;
}
const page = globalThis as unknown as { indexedDB?: IdbFactory; crypto?: { subtle?: Subtle } };

const DATABASE = "svc-device";
const STORE = "kept";

/** Storage of the identity of a page. */
export interface BrowserDeviceOptions {
  /** Origin and base path of the gateway: key and token of one place are never used for another. */
  place: string;
}

/**
 * A device whose key pair lies in IndexedDB; the private half cannot be taken out of the browser. Without a secure context, IndexedDB or
 * Ed25519 there is no key, and the client connects without a device.
 */
export function createBrowserDevice({ place }: BrowserDeviceOptions): ClientDevice {
  let known: Promise<DeviceKey | undefined> | undefined;
  const tokenName = `token ${place}`;
  return {
    key() {
      known ??= loadKey(`key ${place}`).catch(() => undefined);
      return known;
    },
    token: () =>
      use<unknown>("readonly", (store) => store.get(tokenName)).then(
        (token) => (typeof token === "string" ? token : undefined),
        () => undefined,
      ),
    keepToken: async (token) => void (await use("readwrite", (store) => store.put(token, tokenName))),
    forgetToken: async () => void (await use("readwrite", (store) => store.delete(tokenName))),
  };
}

async function loadKey(name: string): Promise<DeviceKey | undefined> {
  const subtle = page.crypto?.subtle;
  if (!subtle || !page.indexedDB) return undefined;
  const found = (await use("readonly", (store) => store.get(name))) as CryptoKeyPair | undefined;
  const pair = found ?? (await subtle.generateKey("Ed25519", false, ["sign", "verify"]));
  if (!found) await use("readwrite", (store) => store.put(pair, name));
  const raw = await subtle.exportKey("raw", pair.publicKey);
  const digest = new Uint8Array(await subtle.digest("SHA-256", raw));
  return {
    id: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    publicKey: toBase64Url(new Uint8Array(raw)),
    sign: async (text) => toBase64Url(new Uint8Array(await subtle.sign("Ed25519", pair.privateKey, new TextEncoder().encode(text)))),
  };
}

/** One short transaction; the connection is not kept, so another tab can always upgrade. */
async function use<T>(mode: "readonly" | "readwrite", work: (store: IdbStore) => IdbRequest<T>): Promise<T> {
  if (!page.indexedDB) throw new Error("this page has no IndexedDB");
  const opening = page.indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = await settled(opening);
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function settled<T>(request: IdbRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}
