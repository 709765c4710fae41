import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";

/** A client of the fake server. */
export interface IrcClient {
  nick: string;
  user: string;
  account?: string;
  readonly caps: Set<string>;
  isRegistered: boolean;
  send(line: string): void;
  /** Closes the link, as a server does. */
  close(): void;
}

interface FakeOptions {
  /** Extensions it offers, SASL excepted. */
  caps?: readonly string[];
  /** Services accounts with their passwords; a certificate stands for the account whose name is its common name. */
  accounts?: Readonly<Record<string, string>>;
  mechanisms?: string;
  /** Nicks that somebody has. */
  taken?: readonly string[];
  /** PEM of the server, and of the authority of its clients' certificates. */
  tls?: { cert: Buffer; key: Buffer; ca?: Buffer };
  features?: string;
  /** Looks at each line before the server does; lines that it returns are the answer, and the server does nothing. */
  script?(line: string, client: IrcClient): readonly string[] | undefined;
}

/** An IRC server with services, after modern.ircdocs.horse and ircv3.net: CAP, SASL, accounts, tags, echoes with ids. */
export interface FakeIrc {
  readonly port: number;
  readonly clients: ReadonlySet<IrcClient>;
  /** Lines of all clients, oldest first. */
  readonly received: readonly string[];
  readonly taken: Set<string>;
  /** Links that were opened so far. */
  readonly opened: number;
  /** Sends a line to every registered client. */
  send(line: string): void;
  close(): Promise<void>;
}

export async function startFakeIrc(options: FakeOptions = {}): Promise<FakeIrc> {
  const clients = new Map<IrcClient, Socket>();
  const received: string[] = [];
  const taken = new Set((options.taken ?? []).map((nick) => nick.toLowerCase()));
  let opened = 0;
  const serve = (socket: Socket) => {
    opened += 1;
    const client: IrcClient = {
      nick: "*",
      user: "",
      caps: new Set(),
      isRegistered: false,
      send: (line) => void (socket.destroyed || socket.write(`${line}\r\n`)),
      close: () => socket.end(),
    };
    clients.set(client, socket);
    socket.on("error", () => socket.destroy()).on("close", () => clients.delete(client));
    const talk = createDialogue(client, { ...options, taken, socket });
    let rest = "";
    socket.setEncoding("utf8");
    socket.on("data", (packet: string) => {
      const lines = `${rest}${packet}`.split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) {
        const line = one.replace(/\r$/, "");
        received.push(line);
        for (const answer of options.script?.(line, client) ?? talk(line)) client.send(answer);
      }
    });
  };
  const { tls } = options;
  const server: Server = tls ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, serve) : createServer(serve);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    received,
    taken,
    get clients() {
      return new Set(clients.keys());
    },
    get opened() {
      return opened;
    },
    send(line) {
      for (const client of clients.keys()) if (client.isRegistered) client.send(line);
    },
    async close() {
      for (const socket of clients.values()) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

type Dialogue = Omit<FakeOptions, "taken"> & { taken: Set<string>; socket: Socket };

const NAME = ":irc.fake.example";

/** Returns the function that answers each line of one client. */
function createDialogue(client: IrcClient, options: Dialogue): (line: string) => string[] {
  const { caps = [], accounts, mechanisms = "PLAIN,EXTERNAL", taken, socket, features = "" } = options;
  const offered = [...caps, ...(accounts ? [`sasl=${mechanisms}`] : [])];
  let negotiating = false;
  let nick = "";
  let sasl: { mechanism: string; answer: string } | undefined;
  let echoes = 0;

  const register = (): string[] => {
    if (negotiating || nick === "" || client.user === "" || client.isRegistered) return [];
    client.nick = nick;
    client.isRegistered = true;
    const who = `${nick}!${client.user}@fake.host`;
    return [
      `${NAME} 001 ${nick} :Welcome to the network ${who}`,
      `${NAME} 005 ${nick} CASEMAPPING=rfc1459 CHANTYPES=# NETWORK=FakeNet ${features} :are supported by this server`,
      `${NAME} 422 ${nick} :MOTD file is missing`,
    ];
  };
  const identify = (account: string | undefined): string[] => {
    if (account === undefined) return [`${NAME} 904 * :SASL authentication failed`];
    client.account = account;
    return [
      `${NAME} 900 * ${nick}!${client.user}@fake.host ${account} :You are now logged in as ${account}`,
      `${NAME} 903 * :SASL authentication successful`,
    ];
  };
  const authenticate = (word: string): string[] => {
    if (!sasl) {
      sasl = { mechanism: word, answer: "" };
      return ["AUTHENTICATE +"];
    }
    if (word !== "+") sasl.answer += word;
    if (word.length === 400) return [];
    const { mechanism, answer } = sasl;
    sasl = undefined;
    if (mechanism === "EXTERNAL") return identify(certificateName(socket));
    const [, user = "", password = ""] = Buffer.from(answer, "base64").toString().split("\0");
    return identify(accounts?.[user] === password && password !== "" ? user : undefined);
  };
  const takeNick = (wanted: string): string[] => {
    if (taken.has(wanted.toLowerCase())) return [`${NAME} 433 ${client.nick} ${wanted} :Nickname is already in use`];
    const before = client.nick;
    nick = wanted;
    if (!client.isRegistered) return register();
    client.nick = wanted;
    return [`:${before}!${client.user}@fake.host NICK :${wanted}`];
  };
  const capability = (kind: string, rest: string): string[] => {
    if (kind === "END") {
      negotiating = false;
      return register();
    }
    negotiating = true;
    if (kind === "LS") return [`${NAME} CAP * LS * :cap-notify`, `${NAME} CAP * LS :${offered.join(" ")}`];
    const asked = rest.replace(/^:/, "").split(" ");
    const isOffered = asked.every((cap) => offered.some((one) => one === cap || one.startsWith(`${cap}=`)));
    if (isOffered) for (const cap of asked) client.caps.add(cap);
    return [`${NAME} CAP * ${isOffered ? "ACK" : "NAK"} :${asked.join(" ")}`];
  };

  return (line) => {
    const [command = "", first = "", second = ""] = line.split(" ");
    if (command === "CAP") return capability(first, line.split(" ").slice(2).join(" "));
    if (command === "NICK") return takeNick(first);
    if (command === "USER") {
      client.user = `~${first}`;
      return register();
    }
    if (command === "AUTHENTICATE") return authenticate(first);
    if (command === "PING") return [`${NAME} PONG irc.fake.example :${first.replace(/^:/, "")}`];
    if (command === "JOIN") {
      return first
        .split(",")
        .flatMap((room) => [
          `:${client.nick}!${client.user}@fake.host JOIN ${room}`,
          `${NAME} 366 ${client.nick} ${room} :End of /NAMES list`,
        ]);
    }
    if (command === "PRIVMSG" && client.caps.has("echo-message")) {
      echoes += 1;
      const text = line.slice(line.indexOf(" :") + 2);
      return [`@msgid=echo-${echoes} :${client.nick}!${client.user}@fake.host PRIVMSG ${first} :${text}`];
    }
    if (command === "QUIT") client.close();
    return second === "?" ? [`${NAME} 421 ${client.nick} ${command} :Unknown command`] : [];
  };
}

function certificateName(socket: Socket): string | undefined {
  const { raw } = (socket as TLSSocket).getPeerCertificate() as { raw?: Buffer };
  if (!raw) return undefined;
  return /^CN=(.+)$/m.exec(new X509Certificate(raw).subject)?.[1];
}
