import { type ChildProcess, spawn } from "node:child_process";
import { failureOf, type ProgramOptions, PublishFailure } from "./node-name.ts";

/** How the port is published, and as which address. */
export interface ServeQuestion extends ProgramOptions {
  mode: "serve" | "funnel";
  /** Address that is published. */
  target: string;
  /** Name of this machine in the tailnet. */
  name: string;
}

/** `tailscale serve` or `tailscale funnel` in the foreground. */
export interface ServeProcess {
  readonly pid: number;
  /** Resolves when it has ended, with what it said last. */
  readonly ended: Promise<string>;
  /** Ends it, and with it what it published. */
  stop(): Promise<void>;
}

/** Certificates are fetched at the first start. */
const START_MS = 20_000;
const END_MS = 2_000;
const MAX_CHARS = 4_000;

/**
 * Starts it and waits until it says that the address is available.
 * @throws {PublishFailure} when it ends or says nothing of the kind
 */
export async function startServe({ mode, target, name, env, signal }: ServeQuestion): Promise<ServeProcess> {
  const child = spawn("tailscale", [mode, "--yes", target], { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const said = collect(child);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(failureOf(error, `tailscale ${mode}`).message));
    child.once("close", (code, by) => resolve(`tailscale ${mode} ended with ${code === null ? by : `code ${code}`}${lastLine(said.text)}`));
  });
  const stop = () => endChild(child, ended);
  const url = `https://${name}`;
  let timer: NodeJS.Timeout | undefined;
  const available = new Promise<"available" | "late">((resolve) => {
    timer = setTimeout(() => resolve("late"), START_MS);
    signal.addEventListener("abort", () => resolve("late"), { once: true });
    said.onText = () => {
      if (said.text.includes(url)) resolve("available");
      else if (enableLink(said.text) !== undefined) resolve("late");
    };
  });
  const outcome = await Promise.race([available, ended.then((reason) => ({ reason }))]);
  clearTimeout(timer);
  said.onText = () => undefined;
  if (outcome === "available" && child.pid !== undefined) return { pid: child.pid, ended, stop };
  await stop();
  if (typeof outcome === "object" && enableLink(said.text) === undefined) throw new PublishFailure(outcome.reason, "see tailscale status");
  throw notAvailable(mode, said.text);
}

/** Finds the page on which an administrator switches it on for the tailnet; the program waits for that, or ends. */
function enableLink(text: string): string | undefined {
  return /(https:\/\/login\.tailscale\.com\/[\w/?=&.-]{1,200})\s/.exec(text)?.[1];
}

function notAvailable(mode: string, text: string): PublishFailure {
  const enable = enableLink(text);
  if (enable !== undefined) return new PublishFailure(`${mode} is not enabled in the tailnet`, `enable it: ${enable}`);
  return new PublishFailure(`tailscale ${mode} did not say that the address is available${lastLine(text)}`, "see tailscale status");
}

interface Said {
  text: string;
  onText(): void;
}

function collect(child: ChildProcess): Said {
  const said: Said = { text: "", onText: () => undefined };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("error", () => undefined); // its end says all there is to say
    stream?.on("data", (chunk: Buffer) => {
      said.text = `${said.text}${chunk}`.slice(-MAX_CHARS);
      said.onText();
    });
  }
  return said;
}

function lastLine(text: string): string {
  const line = text.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
  return line === "" ? "" : `: ${line}`;
}

async function endChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGINT"); // as Ctrl-C, which it asks for
  const hard = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(hard);
}
