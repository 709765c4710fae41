import type { Socket } from "node:net";
import { messageOf, NotDispatchedError, type SendRefusedError } from "svc/sdk";
import type { MqttAccount } from "./accounts.ts";
import type { Connack, MqttClient, MqttLibrary, PublishOptions, PublishPacket, SubscribeError } from "./library.ts";
import { limitPackets } from "./packet-limit.ts";
import { faultOfConnack, faultOfDisconnect, faultOfSubscription, refusalOf, wordsOf } from "./refusals.ts";
import { openSocket } from "./socket.ts";
import type { MqttTiming } from "./timing.ts";

/** Messages that the broker is asked to send at most before the first of them is acknowledged. */
const RECEIVE_MAXIMUM = 20;
/** Messages of ours that wait for the broker at a time. */
const MAX_PENDING = 64;

interface LinkOptions {
  library: MqttLibrary;
  account: MqttAccount;
  /** A passing visit keeps no session, and announces nothing. */
  isVisit?: boolean;
  clientId: string;
  timing: MqttTiming;
  /** Ends the attempt to connect. */
  signal: AbortSignal;
  /** Called when the broker has accepted the account, before its first message. */
  onAccepted?(connack: Connack): void;
  /** Called for each message, in order. A throw ends the link. */
  onMessage?(packet: PublishPacket): void;
}

/** One accepted connection. */
export interface Link {
  readonly connack: Connack;
  /** Resolves when the broker has taken the message. @throws as `Channel.send` */
  publish(topic: string, payload: Buffer, options?: Pick<PublishOptions, "retain" | "properties">): Promise<void>;
  /** @throws {Error} when the broker refuses one of them */
  subscribe(filters: readonly string[]): Promise<void>;
  unsubscribe(filters: readonly string[]): Promise<void>;
  /** Tells the broker that a message need not come again. */
  acknowledge(messageId: number): void;
  /** Leaves in order, within `closeMs`. */
  close(): void;
  destroy(reason: Error): void;
  /** Resolves when the link is gone, with the reason unless it was closed from here. */
  readonly ended: Promise<Error | undefined>;
}

/**
 * Connects, and waits for the broker's answer. The library makes one connection: another one is another link.
 * @throws {AccountRefused} when another try would end in the same way; {Error} for what may pass
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { account, timing, signal } = options;
  const socket = await openSocket({ account, limitMs: timing.connectMs, signal });
  limitPackets(socket, account.maxPacketBytes);
  const client = new options.library.MqttClient(() => socket, clientOptions(options));
  const watched = watch(client, socket, options);
  const abort = () => socket.destroy(new Error("the account stops"));
  signal.addEventListener("abort", abort, { once: true });
  void watched.ended.then(() => client.end(true));
  try {
    await watched.accepted;
  } finally {
    signal.removeEventListener("abort", abort);
  }
  return linkOf(client, socket, { ...watched, timing });
}

function clientOptions({ account, clientId, timing, isVisit = false }: LinkOptions): object {
  const { username, password, status, maxPacketBytes, sessionExpirySeconds } = account;
  const will = status && { topic: status.topic, payload: Buffer.from(status.offline), qos: 1, retain: true };
  return {
    protocolVersion: 5,
    clientId,
    clean: isVisit,
    keepalive: Math.max(1, Math.round(timing.keepaliveMs / 1_000)),
    connectTimeout: timing.acceptMs,
    // The account makes its links itself, and subscribes on each.
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    log: () => undefined,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(will && !isVisit ? { will } : {}),
    properties: {
      sessionExpiryInterval: isVisit ? 0 : sessionExpirySeconds,
      receiveMaximum: RECEIVE_MAXIMUM,
      maximumPacketSize: maxPacketBytes,
    },
  };
}

interface Watched {
  accepted: Promise<Connack>;
  ended: Promise<Error | undefined>;
  /** Called before the link is closed from here: its end needs no reason. */
  expectEnd(): void;
}

/** Follows what happens to a connection, and finds the reason of its end. */
function watch(client: MqttClient, socket: Socket, { clientId, timing, onAccepted, onMessage }: LinkOptions): Watched {
  let fault: Error | undefined;
  let connack: Connack | undefined;
  let isExpected = false;
  const fail = (error: Error) => {
    fault ??= error;
    socket.destroy(fault);
  };
  const ended = new Promise<Error | undefined>((resolve) => {
    const end = () => resolve(isExpected ? undefined : (fault ?? socket.errored ?? silentEnd(connack !== undefined, clientId)));
    if (socket.closed) end();
    else socket.once("close", end);
  });
  client.on("error", (error) => fail(translated(error, timing)));
  client.on("packetreceive", (packet) => {
    if (packet.cmd !== "connack" || connack) return;
    connack = packet as Connack;
    const code = connack.reasonCode ?? 0;
    if (code !== 0) return fail(faultOfConnack(code, connack.properties?.reasonString ?? connack.properties?.serverReference));
    onAccepted?.(connack);
  });
  client.on("disconnect", ({ reasonCode = 0, properties }) => fail(faultOfDisconnect(reasonCode, clientId, properties?.reasonString)));
  client.handleMessage = (packet, done) => {
    try {
      if (packet.qos > 1) throw new Error("the broker sent a message that is confirmed twice (QoS 2), which was not asked for");
      if (!socket.destroyed) onMessage?.(packet);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(messageOf(error)));
    }
    // The library acknowledges a message in its turn, and reads nothing meanwhile. An error keeps it from that: `acknowledge` does it when the message is stored.
    done(packet.qos > 0 ? new Error("acknowledged later") : undefined);
  };
  const accepted = new Promise<Connack>((resolve, reject) => {
    client.on("connect", () => connack && resolve(connack));
    void ended.then((reason) => reject(reason ?? new Error("the link was closed")));
  });
  return { accepted, ended, expectEnd: () => (isExpected = true) };
}

/** Some brokers (mosquitto 2.0.11) end the link of the first client without a word when a second one takes its session. */
function silentEnd(isAccepted: boolean, clientId: string): Error {
  if (!isAccepted) return new Error("the broker closed the link");
  return new Error(
    `the broker closed the link without a reason; if it does so again and again, another client uses the client id "${clientId}"`,
  );
}

/** Errors of the library in our words, where its own do not say who did not answer. */
function translated(error: Error & { code?: unknown }, { acceptMs, keepaliveMs }: MqttTiming): Error {
  if (error.message === "connack timeout") return new Error(`the broker did not accept the account within ${acceptMs / 1_000} s`);
  if (error.message === "Keepalive timeout") return new Error(`the broker has not answered for ${(keepaliveMs * 1.5) / 1_000} s`);
  if (typeof error.code === "string") return error;
  return new Error(`the link failed: ${wordsOf(error.message)}`);
}

async function linkOf(client: MqttClient, socket: Socket, watched: Watched & { timing: MqttTiming }): Promise<Link> {
  const { ended, timing, expectEnd } = watched;
  const connack = await watched.accepted;
  const { maximumQoS, maximumPacketSize = Number.POSITIVE_INFINITY, receiveMaximum = MAX_PENDING } = connack.properties ?? {};
  const maxPending = Math.min(MAX_PENDING, receiveMaximum);
  const pending = new Set<(error: Error) => void>();
  let isOver = false;
  void ended.then(() => {
    isOver = true;
    for (const reject of pending) reject(new Error("the link broke before the broker confirmed the message"));
  });
  /** One question to the broker, with a limit. */
  const ask = <T>(what: string, begin: (settle: (error: Error | undefined) => void) => T): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        const error = new Error(`the broker did not confirm ${what} within ${timing.confirmMs / 1_000} s`);
        settle(error);
        socket.destroy(error);
      }, timing.confirmMs);
      const settle = (error: Error | undefined) => {
        clearTimeout(late);
        pending.delete(settle);
        if (error) reject(error);
        else resolve();
      };
      pending.add(settle);
      begin(settle);
    });

  return {
    connack,
    ended,
    async publish(topic, payload, options = {}) {
      if (isOver || !socket.writable) throw new NotDispatchedError("there is no link to the broker");
      if (pending.size >= maxPending) throw new NotDispatchedError(`${pending.size} messages wait for the broker`, { retryAfterMs: 1_000 });
      checkSize(topic, payload, maximumPacketSize);
      // A broker without QoS 1 confirms nothing: written is all that is known.
      const qos = maximumQoS === 0 ? 0 : 1;
      await ask("a message", (settle) =>
        client.publish(topic, payload, { qos, ...options }, (error) => settle(error ? publishFault(error, topic) : undefined)),
      );
    },
    async subscribe(filters) {
      // Nothing of our own, nothing that was there before, and marks of what is retained.
      const wanted = { qos: maximumQoS === 0 ? 0 : 1, nl: true, rap: false, rh: 2 };
      const topics = Object.fromEntries(filters.map((filter) => [filter, { ...wanted }]));
      await ask("a subscription", (settle) =>
        client.subscribe(topics, (error) => settle(error ? subscribeFault(error, filters) : undefined)),
      );
    },
    unsubscribe: (filters) =>
      ask("the end of a subscription", (settle) => client.unsubscribe([...filters], (error) => settle(error ?? undefined))),
    acknowledge(messageId) {
      if (!isOver && socket.writable) client._sendPacket({ cmd: "puback", messageId, reasonCode: 0 });
    },
    close() {
      expectEnd();
      const late = setTimeout(() => socket.destroy(), timing.closeMs);
      void ended.then(() => clearTimeout(late));
      client.end(false, { reasonCode: 0 });
    },
    destroy: (reason) => void socket.destroy(reason),
  };
}

function publishFault(error: Error & { code?: unknown }, topic: string): Error | SendRefusedError {
  return typeof error.code === "number" ? refusalOf(error.code, topic) : new Error(wordsOf(error.message));
}

function subscribeFault(error: SubscribeError, filters: readonly string[]): Error {
  const at = error.packet?.granted.findIndex((code) => code >= 128) ?? -1;
  const code = error.packet?.granted[at];
  return code === undefined ? new Error(wordsOf(error.message)) : faultOfSubscription(code, filters[at] ?? "");
}

/** Room of a packet beside topic and content: lengths, identifier, and the properties that are sent. */
const OVERHEAD_BYTES = 600;

function checkSize(topic: string, payload: Buffer, maximum: number): void {
  const bytes = Buffer.byteLength(topic) + payload.length + OVERHEAD_BYTES;
  if (bytes > maximum) throw refusalOf(149, topic);
}
