import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from "node:crypto";
import { commonErrors, isSvcError } from "../../sdk/errors.ts";
import type { Store } from "../../sdk/types/store.ts";

/** Identity of the gateway as others see it. */
export interface GatewayIdentity {
  /** Lowercase hex SHA-256 of the raw public key. */
  deviceId: string;
  /** Raw Ed25519 key, base64url. */
  publicKey: string;
}

const [SCOPE, KEY] = ["gateway", "identity"];

/**
 * The gateway's own key, made once and kept in the state database, so that it moves with the rest of the state.
 * @returns a function that rejects with `service-unavailable` while there is no store
 */
export function createGatewayIdentity(present: () => Store | undefined): () => Promise<GatewayIdentity> {
  let making: Promise<GatewayIdentity> | undefined;
  const make = async (): Promise<GatewayIdentity> => {
    const store = present();
    if (!store) throw commonErrors.serviceUnavailable({ service: "store@2" });
    const kept = await keptIdentity(store);
    if (kept) return kept;
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const value = { privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    try {
      await store.commit([{ op: "kv.put", scope: SCOPE, key: KEY, value, ifAbsent: true }]);
    } catch (error) {
      // Another one was first: a gateway has one identity.
      const first = isSvcError(error, "exists") ? await keptIdentity(store) : undefined;
      if (first) return first;
      throw error;
    }
    return identityOf(publicKey);
  };
  return () => {
    making ??= make().finally(() => {
      making = undefined;
    });
    return making;
  };
}

async function keptIdentity(store: Store): Promise<GatewayIdentity | undefined> {
  const kept = (await store.kv.get(SCOPE, KEY)) as { privateKey?: string } | undefined;
  return typeof kept?.privateKey === "string" ? identityOf(createPublicKey(createPrivateKey(kept.privateKey))) : undefined;
}

function identityOf(key: KeyObject): GatewayIdentity {
  const publicKey = String(key.export({ format: "jwk" }).x);
  return { deviceId: hash("sha256", Buffer.from(publicKey, "base64url"), "hex"), publicKey };
}
