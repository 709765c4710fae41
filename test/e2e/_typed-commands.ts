import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { svc } from "../tools/svc.ts";

/**
 * Commands that speak with a gateway or read and write its files, take no path of the working folder, no standard input, and start no program: a process of their own
 * differs in nothing but its start. Each is one all the same the first time that a file types it.
 */
const mayRunHere = new Set(
  [
    ["agent", "doctor", "health", "logs", "status"],
    ["audit list", "audit verify"],
    ["channels list", "channels start", "channels status", "channels stop"],
    ["config file", "config get", "config set", "config unset", "config validate"],
    ["devices list", "gateway call", "gateway status", "hooks list", "memory search"],
    ["pairing approve", "pairing list", "plugins info", "plugins list"],
    ["secrets audit", "secrets reload", "sessions explain"],
  ].flat(),
);

/** Answer by which the script runs the program itself. */
const ITSELF = "itself";

/** Programs `svc` of the readers of one test file. */
export class TypedCommands {
  readonly #typed = new Set<string>();

  /**
   * Writes a program `svc` into a folder that is on somebody's `PATH`.
   * @param program `bin/svc.mjs` that it starts
   * @param onlyPrograms nothing runs in the test's process
   * @returns ends what stands behind it
   */
  async install(bin: string, program: string, { onlyPrograms = false } = {}): Promise<() => Promise<void>> {
    const path = join(bin, "svc");
    const itself = `exec "${process.execPath}" "${program}" "$@"`;
    const end = onlyPrograms ? async () => undefined : await this.#serve(bin);
    const here = `code=$({ printf '%s\\0' "$$" "$PWD" "$#" "$@"; env -0; } | curl -sS --unix-socket "${bin}/socket" --data-binary @- http://svc/)
[ "\${code:-${ITSELF}}" = ${ITSELF} ] && ${itself}
cat "${bin}/$$.err" >&2
cat "${bin}/$$.out"
exit "$code"`;
    await writeFile(path, `#!/bin/sh\n${onlyPrograms ? itself : here}\n`);
    await chmod(path, 0o755);
    return end;
  }

  async #serve(bin: string): Promise<() => Promise<void>> {
    const server = createServer(async (request, response) => {
      const answer = await this.#run(bin, await buffer(request)).catch((error: unknown) => `1 # ${error}`);
      response.end(answer);
    });
    server.listen(join(bin, "socket"));
    await once(server, "listening");
    return async () => {
      server.close();
      server.closeAllConnections();
    };
  }

  /** Runs what was typed. @returns the exit code, or `ITSELF` */
  async #run(bin: string, typed: Buffer): Promise<string> {
    const [pid = "", cwd = "", count = "0", ...rest] = typed.toString().split("\0");
    const args = rest.slice(0, Number(count));
    if (!this.#isRepeated(args)) return ITSELF;
    const env = Object.fromEntries(
      rest
        .slice(Number(count))
        .flatMap((line) => (line.includes("=") ? [[line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]] : [])),
    );
    const { code, stdout, stderr } = await svc(args, { env, cwd });
    await writeFile(join(bin, `${pid}.out`), stdout);
    await writeFile(join(bin, `${pid}.err`), stderr);
    return String(code);
  }

  /** True for a command that may run here and was typed before. */
  #isRepeated(args: readonly string[]): boolean {
    const words = args.filter((arg, i) => !arg.startsWith("-") && args[i - 1] !== "--profile");
    const name = [words.slice(0, 2).join(" "), words[0] ?? ""].find((name) => mayRunHere.has(name));
    if (name === undefined) return false;
    const isRepeated = this.#typed.has(name);
    this.#typed.add(name);
    return isRepeated;
  }
}
