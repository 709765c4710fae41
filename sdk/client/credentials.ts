import type { ClientDevice, DeviceKey } from "./device.ts";
import type { ClientError } from "./error.ts";
import type { ClientAuth } from "./types.ts";

/** Credentials of one attempt. */
export interface Attempt {
  auth: ClientAuth | undefined;
  key: DeviceKey | undefined;
}

/** Refusals of a device token; after them the shared secret has one try. */
const tokenRefusals: ReadonlySet<string | undefined> = new Set(["AUTH_DEVICE_TOKEN_MISMATCH", "AUTH_SCOPE_MISMATCH"]);

/**
 * Chooses the credentials of each attempt: the token that this gateway gave the device, else the shared secret. Whatever was refused is not
 * sent twice in a row, so that trying again never becomes a loop.
 */
export function createCredentials(readAuth: () => Promise<ClientAuth | undefined>, device: ClientDevice | undefined) {
  let last: { auth: string; hasKey: boolean; token: string | undefined } = { auth: "{}", hasKey: false, token: undefined };
  let skipToken = false;

  async function next(): Promise<Attempt> {
    const key = await device?.key();
    const token = key && !skipToken ? await device?.token() : undefined;
    const shared = await readAuth();
    const auth = token === undefined ? shared : { deviceToken: token };
    last = { auth: JSON.stringify(shared ?? {}), hasKey: key !== undefined, token };
    return { auth, key };
  }

  return {
    next,
    /** The gateway let this attempt in; a fresh token of a paired device is kept for the next one. */
    async accepted(token: string | undefined): Promise<void> {
      skipToken = false;
      if (token !== undefined) await device?.keepToken(token);
    },
    /** True when other credentials are at hand and were not refused just now: the attempt is worth making at once. */
    async refused(error: ClientError): Promise<boolean> {
      if (last.token !== undefined && tokenRefusals.has(error.detailCode)) {
        if (error.detailCode === "AUTH_DEVICE_TOKEN_MISMATCH") await device?.forgetToken();
        skipToken = true;
        return hasSecret(await readAuth());
      }
      // It got another one since: with its first hello, by a rotation, or from another program of this installation.
      if (last.hasKey && !skipToken && (await device?.token()) !== last.token) return true;
      return JSON.stringify((await readAuth()) ?? {}) !== last.auth;
    },
  };
}

function hasSecret(auth: ClientAuth | undefined): boolean {
  return auth !== undefined && Object.values(auth).some((value) => value !== undefined && value !== "");
}
