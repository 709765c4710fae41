import { messageOf } from "svc/sdk";

/** Message of JSON-RPC. */
type Message = Record<string, unknown>;

/** One end of the pump: a transport of the library. */
export interface PumpEnd {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: Message) => void) | undefined;
  start(): Promise<void>;
  send(message: Message): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion?(version: string): void;
}

const FAILED = -32_000;
const MAX_REASON_CHARS = 300;
/** Messages under way to the gateway at once; what comes beyond waits, and what comes beyond that is refused. */
const MAX_UNDER_WAY = 64;
const MAX_WAITING = 1_000;

/**
 * Hands each message of a client on to the gateway and each message of the gateway to the client, as they are, until one of both ends. A request that does not
 * arrive is answered here, so that its client does not wait for ever.
 */
export async function pump(
  client: PumpEnd,
  gateway: PumpEnd,
  { signal, report }: { signal: AbortSignal; report(message: string): void },
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const waiting: Message[] = [];
  let initializing: unknown;
  const toClient = (message: Message) => void client.send(message).catch(() => undefined);
  const failed = (message: Message, reason: string) => {
    report(reason);
    if (message.method !== undefined && message.id !== undefined)
      toClient({ jsonrpc: "2.0", id: message.id, error: { code: FAILED, message: `the gateway did not take the request: ${reason}` } });
  };
  const send = (message: Message) =>
    gateway.send(message).catch((error: unknown) => failed(message, messageOf(error).slice(0, MAX_REASON_CHARS)));
  const next = () => {
    while (underWay.size < MAX_UNDER_WAY && waiting.length > 0) {
      const sent = send(waiting.shift() as Message).finally(() => {
        underWay.delete(sent);
        next();
      });
      underWay.add(sent);
    }
  };
  client.onmessage = (message) => {
    if (message.method === "initialize") initializing = message.id;
    if (waiting.length >= MAX_WAITING) return failed(message, "too many messages wait");
    waiting.push(message);
    next();
  };
  gateway.onmessage = (message) => {
    // Later requests carry the agreed revision in a header.
    const { protocolVersion } = (message.result ?? {}) as { protocolVersion?: unknown };
    if (initializing !== undefined && message.id === initializing && typeof protocolVersion === "string") {
      initializing = undefined;
      gateway.setProtocolVersion?.(protocolVersion);
    }
    toClient(message);
  };
  gateway.onerror = () => undefined; // what fails is reported where it was sent
  client.onerror = (error) => report(messageOf(error).slice(0, MAX_REASON_CHARS));
  const ended = new Promise<void>((resolve) => {
    client.onclose = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await gateway.start();
  await client.start();
  await ended;
  await Promise.all([gateway.close(), client.close()].map((closing) => closing.catch(() => undefined)));
}
