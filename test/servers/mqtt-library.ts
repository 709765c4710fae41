import { createRequire } from "node:module";
import { join } from "node:path";
import { vendorIn } from "svc/sdk/testing";
import { describe } from "vitest";
import { loadLibrary, type MqttLibrary } from "../../plugins/channel-mqtt/library.ts";
import { needs } from "./needs.ts";
import { needsPackages } from "./vendored.ts";

const plugin = join(import.meta.dirname, "../../plugins/channel-mqtt");

/** A packet as the codec of the client library has it. */
export interface MqttPacket {
  cmd: string;
  messageId?: number;
  topic?: string;
  payload?: Buffer;
  clientId?: string;
  dup?: boolean;
  properties?: { userProperties?: Record<string, string>; responseTopic?: string; correlationData?: Buffer };
}

interface MqttCodec {
  parser(options: { protocolVersion: 5 }): {
    on(event: "packet", listener: (packet: MqttPacket) => void): void;
    on(event: "error", listener: (error: Error) => void): void;
    parse(bytes: Buffer): number;
  };
  generate(packet: object, options: { protocolVersion: 5 }): Buffer;
}

/** The client library of the channel, as its host loads it. */
export const loadMqtt = (): Promise<MqttLibrary> => loadLibrary(() => vendorIn(plugin).load<MqttLibrary>("mqtt"));
/** The codec of that library. */
export const loadMqttCodec = (): MqttCodec => createRequire(join(plugin, "vendor/package.json"))("mqtt-packet") as MqttCodec;

/** `describe` and `test` for tests that need these commands and the client library; skipped by name where one is missing. */
export async function needsMqtt(...commands: string[]): Promise<ReturnType<typeof needs>> {
  const found = await needsPackages("channel-mqtt");
  return found.describe === describe ? needs(...commands) : found;
}
