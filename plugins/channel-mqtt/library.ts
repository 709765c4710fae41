/** The parts of the package `mqtt` that this channel uses. */
export interface MqttLibrary {
  MqttClient: new (openStream: () => NodeJS.ReadWriteStream, options: object) => MqttClient;
}

/** A client of the library, for one connection. */
export interface MqttClient {
  on(event: "connect" | "close", listener: () => void): void;
  on(event: "error", listener: (error: Error & { code?: unknown }) => void): void;
  on(event: "packetreceive", listener: (packet: { cmd: string }) => void): void;
  on(event: "disconnect", listener: (packet: { reasonCode?: number; properties?: Properties }) => void): void;
  publish(topic: string, payload: Buffer, options: PublishOptions, done: (error?: (Error & { code?: unknown }) | null) => void): void;
  subscribe(filters: Record<string, object>, done: (error: SubscribeError | null) => void): void;
  unsubscribe(filters: string[], done: (error?: Error | null) => void): void;
  end(force: boolean, options?: object, done?: () => void): void;
  /** Called for each message; an error keeps the library from acknowledging it. */
  handleMessage(packet: PublishPacket, done: (error?: Error) => void): void;
  /** Writes a packet. The library has no public way to acknowledge a message later than in its turn (mqtt 5.16.0). */
  _sendPacket(packet: { cmd: "puback"; messageId: number; reasonCode: number }): void;
}

/** Refusal of a subscription, with the broker's answer for each filter. */
export interface SubscribeError extends Error {
  packet?: { granted: number[] };
}

export interface PublishOptions {
  qos: 0 | 1;
  retain?: boolean;
  properties?: Properties;
}

export interface Properties {
  responseTopic?: string;
  correlationData?: Buffer;
  userProperties?: Record<string, string | string[]>;
  contentType?: string;
  payloadFormatIndicator?: boolean;
  reasonString?: string;
  serverReference?: string;
}

/** A message as the broker sent it. */
export interface PublishPacket {
  cmd: "publish";
  topic: string;
  payload: Buffer | string;
  qos: number;
  retain: boolean;
  dup: boolean;
  messageId?: number;
  properties?: Properties;
}

/** The broker's answer to a connection. */
export interface Connack {
  cmd: "connack";
  sessionPresent: boolean;
  reasonCode?: number;
  properties?: Properties & { maximumPacketSize?: number; receiveMaximum?: number; maximumQoS?: number; retainAvailable?: boolean };
}

/** Name that a package behind `mqtt` 5.16.0 (@babel/runtime) defines for everybody. */
const STRAY_GLOBAL = "regeneratorRuntime";

/** Loads the library, and takes away what it leaves behind in the process. */
export async function loadLibrary(load: () => Promise<MqttLibrary>): Promise<MqttLibrary> {
  const isKnown = Object.hasOwn(globalThis, STRAY_GLOBAL);
  const library = await load();
  if (!isKnown) delete (globalThis as Record<string, unknown>)[STRAY_GLOBAL];
  return library;
}
