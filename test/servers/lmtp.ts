import { once } from "node:events";
import { connect } from "node:net";

const LIMIT_MS = 30_000;

/**
 * Delivers a mail as the last server before a mailbox does, by LMTP.
 * @param mail header and body, with lines that end in CR LF or LF
 * @throws {Error} with the server's answer when it does not take it
 */
export async function deliver(port: number, mail: string | Uint8Array, { from, to }: { from: string; to: string }): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error("LMTP: no answer")));
  socket.on("error", () => undefined);
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk));
  /** Waits for a whole answer, the last line of which has a blank behind its code. */
  const expectCode = async (code: string) => {
    for (;;) {
      const [, line, rest] = /^(?:\d{3}-.*\r\n)*(\d{3} .*)\r\n([\s\S]*)$/.exec(received) ?? [];
      if (line !== undefined) {
        received = rest ?? "";
        if (!line.startsWith(code)) throw new Error(`LMTP: expected ${code}, got ${line}`);
        return;
      }
      if (socket.destroyed) throw new Error("LMTP: the link was closed");
      await Promise.race([once(socket, "data"), once(socket, "close")]);
    }
  };
  try {
    await expectCode("220");
    const steps: Array<[string, string]> = [["LHLO mx.example.org", "250"], [`MAIL FROM:<${from}>`, "250"], [`RCPT TO:<${to}>`, "250"], ["DATA", "354"]]; // biome-ignore format: one table
    for (const [line, code] of steps) {
      socket.write(`${line}\r\n`);
      await expectCode(code);
    }
    const bytes = Buffer.from(mail).toString("latin1");
    const body = bytes.replace(/\r?\n/g, "\r\n").replace(/^\./gm, "..");
    socket.write(`${body}${body.endsWith("\r\n") ? "" : "\r\n"}.\r\n`, "latin1");
    await expectCode("250");
    socket.write("QUIT\r\n");
  } finally {
    socket.destroy();
  }
}
