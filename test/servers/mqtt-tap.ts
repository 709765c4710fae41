import { createServer, type Socket } from "node:net";
import { loadMqttCodec, type MqttPacket } from "./mqtt-library.ts";
import { TappedLinks } from "./tapped-links.ts";

/** A wire tap between accounts and a broker: knows who is linked, reads along, cuts and stalls links. */
export interface MqttTap {
  readonly port: number;
  /** Links that are open, by the ids of their clients. */
  readonly links: ReadonlySet<{ clientId?: string }>;
  /** Cuts every link; new ones are taken. */
  cut(): void;
  /** Lets nothing through any more, in both directions, without closing anything: a cable that was pulled. */
  stall(isStalled: boolean): void;
  close(): Promise<void>;
}

interface TapOptions {
  brokerPort: number;
  /** Called for each packet of an account before the broker has it. For `false` the link is cut there. */
  onSent?(packet: MqttPacket): boolean | undefined;
  /** Called for each packet of the broker. */
  onReceived?(packet: MqttPacket): void;
}

export async function startMqttTap({ brokerPort, onSent, onReceived }: TapOptions): Promise<MqttTap> {
  const codec = loadMqttCodec();
  const links = new TappedLinks<{ clientId?: string }>();
  let isStalled = false;
  const tap = createServer((client) => {
    const link: { clientId?: string } = {};
    const { server: broker, cut } = links.open(link, client, brokerPort);
    const forward = (from: Socket, to: Socket, read: (packet: MqttPacket) => boolean | undefined) => {
      const parser = codec.parser({ protocolVersion: 5 });
      let isCut = false;
      parser.on("packet", (packet) => {
        if (read(packet) === false) isCut = true;
      });
      parser.on("error", () => undefined);
      from.on("data", (chunk: Buffer) => {
        if (isStalled) return;
        parser.parse(chunk);
        if (isCut) return cut();
        if (!to.destroyed) to.write(chunk);
      });
      from.on("end", () => to.end());
    };
    forward(client, broker, (packet) => {
      if (packet.cmd === "connect" && packet.clientId !== undefined) link.clientId = packet.clientId;
      return onSent?.(packet);
    });
    forward(broker, client, (packet) => void onReceived?.(packet));
  });
  const port = await links.listen(tap);
  return {
    port,
    get links() {
      return links.all;
    },
    cut: () => links.cutAll(),
    stall: (stalled) => {
      isStalled = stalled;
    },
    close: () => links.close(tap),
  };
}
