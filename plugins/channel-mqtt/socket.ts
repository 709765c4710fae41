import { connect as netConnect, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { tlsOptions } from "svc/sdk";
import type { MqttAccount } from "./accounts.ts";

interface SocketOptions {
  account: Pick<MqttAccount, "host" | "port" | "tls">;
  limitMs: number;
  /** Gives up. */
  signal: AbortSignal;
}

/**
 * Dials, and checks the broker's certificate. Nothing of what comes is read yet.
 * @throws {Error} when there is no connection in time; nothing was sent then
 */
export async function openSocket({ account, limitMs, signal }: SocketOptions): Promise<Socket> {
  const { host, port, tls } = account;
  const secure = tls && (await tlsOptions(tls, host));
  signal.throwIfAborted();
  const socket = secure ? tlsConnect({ host, port, ...secure }) : netConnect({ host, port });
  socket.setNoDelay(true);
  const abort = () => socket.destroy(new Error("the account stops"));
  signal.addEventListener("abort", abort, { once: true });
  const late = setTimeout(() => socket.destroy(new Error(`no connection within ${limitMs / 1_000} s`)), limitMs);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(secure ? "secureConnect" : "connect", resolve);
      socket.on("error", reject);
      socket.once("close", () => reject(new Error("the link was closed before it stood")));
    });
    return socket;
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", abort);
  }
}
