import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../sdk/testing/eventually.ts";

/** A real Prometheus that scrapes one gateway. */
export interface Prometheus {
  /** Samples that a query finds now, by their labels. */
  query(expression: string): Promise<Array<{ metric: Record<string, string>; value: [number, string] }>>;
  /** Names of the alert rules that it has loaded. */
  rules(): Promise<string[]>;
  stop(): Promise<void>;
}

interface PrometheusOptions {
  /** A free port. */
  port: number;
  /** Port of the gateway. */
  target: number;
  token: string;
  /** Config and rules as an operator has them. */
  config: string;
  rules: string;
}

/** Starts Prometheus with a folder of its own and the given files, in which address, secret and interval are those of the test, and waits until it is ready. */
export async function startPrometheus({ port, target, token, config, rules }: PrometheusOptions): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "svc-prometheus-"));
  const tokenFile = join(folder, "token");
  const text = (await readFile(config, "utf8"))
    .replaceAll("/etc/prometheus/svc.token", tokenFile)
    .replaceAll("127.0.0.1:18789", `127.0.0.1:${target}`)
    .replaceAll(/_interval: 15s/g, "_interval: 200ms")
    .replace("- alerts.yml", `- ${rules}`);
  await writeFile(tokenFile, token, { mode: 0o600 });
  await writeFile(join(folder, "prometheus.yml"), text);
  const flags = [`--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${join(folder, "data")}`];
  const child = spawn("prometheus", [...flags, `--web.listen-address=127.0.0.1:${port}`, "--log.level=warn"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  child.once("error", (error) => {
    printed += error.message;
  });
  const origin = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}: ${printed}`);
      return (await fetch(`${origin}/-/ready`)).ok;
    }, 20_000);
  } catch (error) {
    await stop();
    throw error;
  }
  const ask = async <T>(path: string): Promise<T> => ((await (await fetch(`${origin}/api/v1/${path}`)).json()) as { data: T }).data;
  return {
    stop,
    async query(expression) {
      const { result } = await ask<{ result: Awaited<ReturnType<Prometheus["query"]>> }>(`query?query=${encodeURIComponent(expression)}`);
      return result;
    },
    async rules() {
      const { groups } = await ask<{ groups: Array<{ rules: Array<{ name: string }> }> }>("rules");
      return groups.flatMap((group) => group.rules.map(({ name }) => name));
    },
  };
}
