import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { eventually } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { drive, endAfterEach } from "../../test/fixtures/xmpp-network.ts";
import { makeCertificate } from "../../test/servers/certificate.ts";
import { needs } from "../../test/servers/needs.ts";

const HEADER =
  "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>";
const SASL = "urn:ietf:params:xml:ns:xmpp-sasl";
const features = (...inner: string[]) => `${HEADER}<stream:features>${inner.join("")}</stream:features>`;
const mechanisms = (...names: string[]) =>
  `<mechanisms xmlns='${SASL}'>${names.map((name) => `<mechanism>${name}</mechanism>`).join("")}</mechanisms>`;
const b64 = (text: string) => Buffer.from(text).toString("base64");

endAfterEach();
const servers: Array<() => void> = [];
afterEach(() => {
  for (const end of servers.splice(0)) end();
});

/** A server that answers the first thing it hears with the first text, and so on; `{nonce}` is that of the login. */
async function scripted(...answers: string[]): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const left = [...answers];
    let nonce = "";
    socket.on("error", () => undefined);
    socket.on("data", (packet: Buffer) => {
      heard.push(packet.toString());
      const auth = /<auth [^>]*>([^<]*)/.exec(packet.toString())?.[1];
      if (auth !== undefined) nonce = /r=(.*)$/.exec(Buffer.from(auth, "base64").toString())?.[1] ?? "";
      const answer = left.shift();
      if (answer !== undefined) socket.write(answer.replace("{challenge}", () => b64(`r=${nonce}more,s=c2FsdA==,i=4096`)));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heard };
}

const error = (condition: string, inner = "") =>
  `<stream:error><${condition} xmlns='urn:ietf:params:xml:ns:xmpp-streams'>${inner}</${condition}></stream:error>`;

test.each<[string, string[], "recovering" | "blocked", RegExp]>([
  ["sends a web page", ["HTTP/1.1 400 Bad Request\r\n\r\n<html><body>no</body></html>"], "recovering", /text between/],
  ["sends a tag without an end", [`${HEADER}<a b='${"x".repeat(1_048_577)}`], "recovering", /a tag longer than/],
  ["sends a document type", [`<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b "c">]>`], "recovering", /does not allow: a tag inside a tag/],
  ["sends stanzas without end", [features() + "<message/>".repeat(5_000)], "recovering", /offers no login|more than a login/],
  ["names another host", [HEADER + error("see-other-host", "evil.example:5222")], "recovering", /names another host/],
  ["does not serve the domain", [HEADER + error("host-unknown")], "blocked", /does not serve this domain/],
  ["offers the password as it is only", [features(mechanisms("PLAIN"))], "blocked", /link is not encrypted/],
  [
    "asks for no work",
    [features(mechanisms("SCRAM-SHA-1")), `<challenge xmlns='${SASL}'>${b64("r=x,s=c2FsdA==,i=1")}</challenge>`],
    "recovering",
    /challenge/,
  ],
  [
    "does not know the password itself",
    [
      features(mechanisms("SCRAM-SHA-1")),
      `<challenge xmlns='${SASL}'>{challenge}</challenge>`,
      `<success xmlns='${SASL}'>${b64("v=AAAA")}</success>`,
    ],
    "recovering",
    /has not shown that it knows/,
  ],
  [
    "refuses the account",
    [features(mechanisms("SCRAM-SHA-1")), `<failure xmlns='${SASL}'><not-authorized/><text>pw-5d2e8a31c7 \u001b[2J</text></failure>`],
    "blocked",
    /refused the account: (?!.*pw-5d2e)/,
  ],
  [
    "cannot check now",
    [features(mechanisms("SCRAM-SHA-1")), `<failure xmlns='${SASL}'><temporary-auth-failure/></failure>`],
    "recovering",
    /temporary-auth-failure/,
  ],
])("a server that %s", async (_name, answers, lifecycle, words) => {
  const server = await scripted(...answers);

  const account = drive(server.port, {}, { reconnectMs: 30_000 });

  const { lastError = "" } = await account.is(lifecycle);
  expect(lastError).toMatch(words);
  expect(lastError).not.toMatch(/\p{Cc}/u);
  expect(server.heard.join("")).not.toContain("pw-5d2e8a31c7");
});

needs("openssl").test("words that somebody put behind the consent to encrypt are not heard on the encrypted stream", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-xmpp-"));
  const files = await makeCertificate(folder);
  const [cert, key] = [await readFile(files.cert), await readFile(files.key)];
  const heard: string[] = [];
  const server = createServer((socket) => {
    servers.push(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(features("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"));
      socket.once("data", () => {
        const secure = new TLSSocket(socket, { isServer: true, cert, key });
        secure.on("error", () => undefined);
        secure.on("data", (packet: Buffer) => {
          heard.push(packet.toString());
          if (heard.length === 1) secure.write(features(mechanisms("SCRAM-SHA-1")));
        });
        socket.write(`<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/><stream:features>${mechanisms("PLAIN")}</stream:features>`);
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(() => server.close());

  const account = drive((server.address() as AddressInfo).port, { tls: { caPath: files.cert } });
  await eventually(() => heard.some((text) => text.includes("<auth")));
  await account.stop();
  await rm(folder, { recursive: true });

  expect(heard.join("")).toContain('mechanism="SCRAM-SHA-1"');
  expect(heard.join("")).not.toContain('mechanism="PLAIN"');
});

test("a server that never answers is given up in time, and a stop does not wait for it", async () => {
  const server = await scripted();
  const account = drive(server.port, {}, { reconnectMs: 30_000, loginMs: 100 });
  expect((await account.is("recovering")).lastError).toContain("did not accept the account within");

  const stopped = drive(server.port, {});
  await stopped.stop();

  expect(stopped.state().lifecycle).toBe("stopped");
});
