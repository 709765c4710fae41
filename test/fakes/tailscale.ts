import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Words and deeds of the fake daemon. */
export interface TailscaleState {
  /** Default `Running`. */
  backendState?: string;
  /** Address → login name. */
  people?: Record<string, string>;
  /** `serve` and `funnel` say this and end with 1. */
  refusal?: string;
  /** `serve` and `funnel` print this and wait for somebody to enable them. */
  advice?: string;
}

/** A `tailscale` that publishes a port on loopback, for tests of who runs it. */
export interface FakeTailscale {
  /** Variables with which `tailscale` is this one. */
  env: Record<string, string>;
  /** Command lines, in order. */
  runs(): Promise<Array<{ argv: string[]; pid: number; leaked: string[]; port?: number }>>;
  set(state: TailscaleState): Promise<void>;
}

/** Name of the machine in its tailnet. */
export const machineName = "gw.tail1234.ts.net";
/** Header by which a test says which machine of the tailnet it is; the fake takes it off. */
export const FROM = "x-fake-from";

/** Puts a program `tailscale` into a folder. It knows `status`, `whois`, `serve`, `funnel` and `reset`, with the output and the headers of the real one. */
export async function fakeTailscale(folder: string, state: TailscaleState = {}): Promise<FakeTailscale> {
  const bin = join(folder, "bin");
  const [log, file] = [join(folder, "tailscale.log"), join(folder, "tailscale.json")];
  await mkdir(bin, { recursive: true });
  // The program gets no variable but PATH and HOME.
  const places = `const LOG = ${JSON.stringify(log)}, STATE = ${JSON.stringify(file)}, NAME = ${JSON.stringify(machineName)}, FROM = ${JSON.stringify(FROM)};`;
  await writeFile(join(bin, "tailscale"), `#!${process.execPath}\n${places}\n${program}`);
  await chmod(join(bin, "tailscale"), 0o700);
  const set = (next: TailscaleState) => writeFile(file, JSON.stringify(next));
  await set(state);
  return {
    env: { PATH: `${bin}:${process.env.PATH ?? ""}` },
    set,
    async runs() {
      const text = await readFile(log, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
  };
}

const program = String.raw`
const { appendFileSync, readFileSync } = require("node:fs");
const http = require("node:http");
const net = require("node:net");
const argv = process.argv.slice(2);
const state = JSON.parse(readFileSync(STATE, "utf8"));
const leaked = Object.keys(process.env).filter((name) => name.startsWith("SVC_"));
const log = (more) => appendFileSync(LOG, JSON.stringify({ argv, pid: process.pid, leaked, ...more }) + "\n");
const fail = (text) => { process.stderr.write(text + "\n"); process.exit(1); };
const [command, ...rest] = argv;
const whois = (address) => (state.people ?? {})[address];
if (command === "status") {
  log();
  if (!rest.includes("--json")) fail("the fake speaks JSON");
  console.log(JSON.stringify({ Version: "1.80.0", BackendState: state.backendState ?? "Running", Self: { DNSName: NAME + ".", Online: true }, Peer: null }));
} else if (command === "whois") {
  log();
  const login = whois(rest.at(-1));
  if (!rest.includes("--json")) fail("the fake speaks JSON");
  if (login === undefined) fail("peer not found");
  console.log(JSON.stringify({ Node: { ID: 1, Name: "laptop.tail1234.ts.net." }, UserProfile: { ID: 2, LoginName: login, DisplayName: login } }));
} else if (["serve", "funnel"].includes(command) && rest[0] === "reset") log();
else if (["serve", "funnel"].includes(command)) {
  if (rest[0] !== "--yes") fail("asks a terminal");
  if (state.refusal) { log(); fail(state.refusal); }
  if (state.advice) { log(); console.log(state.advice); setInterval(() => undefined, 60_000); }
  else publish(new URL(rest[1]));
} else fail("unknown subcommand: " + command);

function publish(target) {
  const server = http.createServer((req, res) => {
    const options = { host: target.hostname, port: target.port, method: req.method, path: req.url, headers: headersOf(req) };
    const far = http.request(options, (answer) => { res.writeHead(answer.statusCode, answer.headers); answer.pipe(res); });
    far.on("error", () => res.destroy());
    req.pipe(far);
  });
  server.on("upgrade", (req, socket) => {
    const far = net.connect({ host: target.hostname, port: Number(target.port) }, () => {
      const lines = Object.entries(headersOf(req)).map(([name, value]) => name + ": " + value);
      far.write([req.method + " " + req.url + " HTTP/1.1", ...lines, "", ""].join("\r\n"));
      socket.pipe(far).pipe(socket);
    });
    for (const end of [socket, far]) end.on("error", () => { socket.destroy(); far.destroy(); });
  });
  server.listen(0, "127.0.0.1", () => {
    log({ port: server.address().port });
    const where = command === "serve" ? "Available within your tailnet:" : "Available on the internet:";
    console.log(where + "\n\nhttps://" + NAME + "/\n|-- proxy " + target.href.replace(/\/$/, "") + "\n\nPress Ctrl+C to exit.");
  });
}

// As the real one: what the client says about itself is taken off, whatever it was.
function headersOf(req) {
  const from = req.headers[FROM] ?? "";
  const kept = Object.entries(req.headers).filter(([name]) => !name.startsWith("tailscale-") && !name.startsWith("x-forwarded-") && name !== FROM);
  const login = command === "serve" ? whois(from) : undefined;
  return {
    ...Object.fromEntries(kept),
    host: NAME,
    "x-forwarded-host": NAME,
    "x-forwarded-proto": "https",
    "x-forwarded-for": from,
    ...(login === undefined ? {} : { "tailscale-user-login": login, "tailscale-user-name": login }),
  };
}
`;
