import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolCall, ToolResult } from "svc/sdk";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { needs, skippedFor } from "../../test/servers/needs.ts";
import { execConfig } from "./config.ts";
import { type ExecDeps, execTool } from "./exec-tool.ts";
import { LiveCommands } from "./live-commands.ts";
import { processTool } from "./process-tool.ts";
import { CommandRunner, placeIn } from "./runner.ts";
import { holdsProcessLimit, keptCommand } from "./sandbox.ts";

let workspace: string;
const live = new LiveCommands();
const life = new AbortController();
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), "svc-exec-"));
  await mkdir(join(workspace, "below"));
  await symlink("/etc", join(workspace, "away"));
});
afterEach(() => live.close());
afterAll(() => rm(workspace, { recursive: true, force: true }));

const env = { ...process.env, SVC_GATEWAY_TOKEN: "secret-of-the-gateway", OPENAI_API_KEY: "key-of-a-vendor" };
const toolsWith = (config: object = {}) => {
  const checked = execConfig.parse({ mode: "full", sandbox: "off", ...config });
  const deps = {
    config: checked,
    runner: new CommandRunner(checked, { env, signal: life.signal }),
    live,
    agents: () => ({ list: () => [{ id: "main", workspace }] }),
    clock: { now: Date.now },
  } as unknown as ExecDeps;
  return { exec: execTool(deps), process: processTool(live) };
};
const call = (signal: AbortSignal = life.signal, updates: string[] = []): ToolCall => ({
  ...{ agentId: "main", sessionKey: "agent:main:main", runId: "r", toolCallId: "t", origin: "operator", signal },
  update: (text) => void updates.push(text),
});
const textOf = (result: unknown) =>
  typeof result === "string" ? result : (result as ToolResult).content.map((part) => ("text" in part ? part.text : "")).join("");
type Args = Parameters<ReturnType<typeof execTool>["run"]>[0];
const run = async (args: Args, config = {}) => textOf(await toolsWith(config).exec.run(args, call()));

describe("a command", () => {
  test("runs in the workspace without a shell, and its output and code come back", async () => {
    expect(await run({ argv: ["echo", "$HOME; ls", "*"] })).toBe("$HOME; ls *\n[exit code 0]");
    expect(await run({ argv: ["pwd"], cwd: "below" })).toBe(`${workspace}/below\n[exit code 0]`);
    expect(await run({ command: "echo out; echo err >&2; exit 3" })).toMatch(/^(?:out\nerr|err\nout)\n\[exit code 3\]$/);
    expect(await run({ argv: ["no-such-program"] }, { memoryMb: 8_192 })).toMatch(/no-such-program|could not be started/);
  });

  test("does not see what the gateway knows", async () => {
    const seen = await run({ argv: ["env"], env: { OWN: "yes" } });
    expect(seen).toContain("OWN=yes");
    expect(seen).not.toMatch(/secret-of-the-gateway|key-of-a-vendor|^SVC_|_KEY=/m);
    await expect(run({ argv: ["env"], env: { LD_PRELOAD: "/x.so" } })).rejects.toThrow("env: LD_PRELOAD cannot be set");
  });

  test.each(["..", "/etc", "away", "gone", "below/../.."])("does not run in %s", async (cwd) => {
    await expect(run({ argv: ["pwd"], cwd })).rejects.toThrow("expected a folder of the workspace");
  });

  test("that takes too long ends with all that it had started", async () => {
    const pids = join(workspace, "pids");
    const script = `echo first; seq 300000; sleep 600 & echo $$ $! > ${pids}; trap '' TERM; echo last; wait`;
    const seen = await run({ command: script }, { timeoutSeconds: 1 });
    expect(seen).toMatch(/\nlast\n\[it timed out and was ended with all that it had started\]$/);
    // Its output of 2 MB is no more than a result may have.
    expect(seen.length).toBeLessThan(52_000);
    const started = (await readFile(pids, "utf8")).trim().split(" ").map(Number);
    expect(started.map(isAlive)).toEqual([false, false]);
  });

  needs("setsid").test("ends with what has left its group, and with what goes on after its end", async () => {
    const pids = join(workspace, "strays");
    const stray = `setsid -f sh -c 'echo $$ >> ${pids}; exec sleep 600'`;
    const written = `while [ "$(wc -l < ${pids})" -lt 2 ]; do sleep 0.05; done`;
    await writeFile(pids, "");
    await run({ command: `${stray}; (${stray} &); ${written}; echo done` });
    const found = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
    expect(found).toHaveLength(2);
    // The process that inherits them may take a moment to hear of their end.
    await expect.poll(() => found.filter(isAlive), { timeout: 10_000 }).toEqual([]);
  });

  test("does not run in a folder that was swapped for a link while somebody thought about it", async () => {
    const place = await placeIn(workspace, "below");
    await rename(join(workspace, "below"), join(workspace, "before"));
    await symlink("/etc", join(workspace, "below"));
    const checked = execConfig.parse({ mode: "full", sandbox: "off" });
    const command = { argv: ["pwd"], cwd: place.cwd, agentId: "main", sessionKey: "agent:main:main", origin: "operator" as const };
    const started = new CommandRunner(checked, { env, signal: life.signal }).start(command, place, 10_000);
    await expect(started).rejects.toThrow("the folder was replaced meanwhile");
    await rm(join(workspace, "below"));
    await rename(join(workspace, "before"), join(workspace, "below"));
  });

  test("ends with its call", async () => {
    const stop = new AbortController();
    const running = toolsWith().exec.run({ argv: ["sleep", "600"] }, call(stop.signal));
    setImmediate(() => stop.abort(new Error("the run was stopped")));
    await expect(running).rejects.toThrow("the run was stopped");
  });

  needs("prlimit").test("does not take more memory than it may", async () => {
    const script = "x=$(head -c 300000000 /dev/zero | tr '\\0' a); echo got $(printf %s \"$x\" | wc -c)";
    expect(await run({ command: script }, { memoryMb: 128 })).not.toContain("got 300000000");
  });
});

describe("a command in the background", () => {
  test("is read, written to and ended by its agent alone", async () => {
    const { exec, process: look } = toolsWith();
    expect(textOf(await exec.run({ argv: ["cat"], background: true }, call()))).toContain("Started in the background as p1");
    expect(await look.run({ action: "write", id: "p1", text: "hello\n" }, call())).toBe("Written.");
    expect(textOf(await look.run({ action: "poll", id: "p1", waitSeconds: 10 }, call()))).toBe("hello\n\n[p1 is running]");
    expect(await look.run({ action: "list" }, call())).toMatchObject({ commands: [{ id: "p1", command: "cat", state: "running" }] });
    await expect(look.run({ action: "poll", id: "p1" }, { ...call(), agentId: "other" })).rejects.toThrow("there is no command");
    expect(textOf(await look.run({ action: "kill", id: "p1" }, call()))).toContain("it was ended");
    await expect(look.run({ action: "write", id: "p1", text: "x" }, call())).rejects.toThrow("takes no input any more");
  });

  test("is ended where its call is stopped while it begins", async () => {
    const { exec, process: look } = toolsWith({ allow: ["sleep *"] });
    const stop = new AbortController();
    let isPermitted = false;
    const signal = new Proxy(stop.signal, {
      get: (target, name) => {
        // The check behind the approval is the last one before the command begins.
        if (name === "throwIfAborted" && !isPermitted) {
          isPermitted = true;
          return () => queueMicrotask(() => stop.abort(new Error("stopped")));
        }
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await expect(exec.run({ argv: ["sleep", "60"], background: true }, call(signal))).rejects.toThrow("stopped");
    expect(await look.run({ action: "list" }, call())).toEqual({ commands: [] });
  });

  test("is nothing that strangers in a group can read or write to, unless their conversation started it", async () => {
    const { exec, process: look } = toolsWith({ allow: ["cat"] });
    const group = { ...call(), sessionKey: "agent:main:irc:group:team", origin: "anybody" as const };
    await exec.run({ argv: ["cat"], background: true }, call());
    const { commands } = (await look.run({ action: "list" }, call())) as { commands: Array<{ id: string }> };
    const id = commands[0]?.id ?? "";
    await expect(look.run({ action: "write", id, text: "x" }, group)).rejects.toThrow("there is no command");
    expect(await look.run({ action: "list" }, group)).toEqual({ commands: [] });
    await exec.run({ argv: ["cat"], background: true }, group);
    expect(await look.run({ action: "list" }, group)).toMatchObject({ commands: [{ command: "cat" }] });
  });

  test("is one of eight at most", async () => {
    const { exec } = toolsWith();
    const begin = () => exec.run({ argv: ["sleep", "600"], background: true }, call());
    // All at once: none may slip in while another one starts.
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, begin));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
    await expect(begin()).rejects.toThrow("8 commands run in the background already");
    await live.close();
    expect(textOf(await begin())).toContain("Started in the background");
  });

  test("that reads nothing is not given more than 256 KiB", async () => {
    const { exec, process: look } = toolsWith();
    const id = /as (p\d+)/.exec(textOf(await exec.run({ argv: ["sleep", "600"], background: true }, call())))?.[1] ?? "";
    const outcomes: string[] = [];
    const text = "x".repeat(65_536);
    for (let i = 0; i < 8; i++)
      outcomes.push(await Promise.resolve(look.run({ action: "write", id, text }, call())).then(String, (error) => String(error.message)));
    expect(outcomes[0]).toBe("Written.");
    expect(outcomes.at(-1)).toContain(`text: ${id} has not read what was written before`);
  });
});

const hasNamespaces = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
const sandboxed = hasNamespaces ? needs("bwrap") : skippedFor("bubblewrap with the right to make namespaces");

describe("in the sandbox", () => {
  sandboxed.test("a command sees its workspace, and nothing else of this machine", async () => {
    await writeFile(join(workspace, "note.txt"), "a note");
    const script =
      "cat note.txt; ls /root /home /etc/passwd 2>&1; cat /proc/net/tcp | wc -l; id -u; echo new > made.txt; ls -d /proc/[0-9]* | wc -l";
    const seen = await run({ command: script }, { sandbox: "require" });
    expect(seen).toContain("a note");
    expect(seen).toMatch(/cannot access '\/root'.*\n.*cannot access '\/home'.*\n.*cannot access '\/etc\/passwd'/);
    expect(seen).toMatch(/\n65534\n/);
    expect(await readFile(join(workspace, "made.txt"), "utf8")).toBe("new\n");
  });

  sandboxed.test("a command reaches no server of this machine, unless it may use the network", async () => {
    const server = createServer((socket) => void socket.end("reached\n"));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const argv = ["/bin/bash", "-c", script];
    expect(await run({ argv }, { sandbox: "require" })).toMatch(/Connection refused[\s\S]*\[exit code 1\]$/);
    expect(await run({ argv }, { sandbox: "require", network: true })).toBe("reached\n[exit code 0]");
    await new Promise((resolve) => server.close(resolve));
  });

  sandboxed.test("a command takes no more memory than it may", async () => {
    const script = "x=$(head -c 300000000 /dev/zero | tr '\\0' a); echo got $(printf %s \"$x\" | wc -c)";
    expect(await run({ command: script }, { sandbox: "require", memoryMb: 128 })).not.toContain("got 300000000");
    expect(await run({ command: script.replaceAll("300000000", "3000") }, { sandbox: "require", memoryMb: 128 })).toContain("got 3000");
  });

  sandboxed.test("a path of the call's own does not replace the programs that keep it there", async () => {
    for (const name of ["bwrap", "prlimit"]) {
      await writeFile(join(workspace, name), `#!/bin/sh\necho outside > ${join(workspace, "outside.txt")}\n`, { mode: 0o755 });
    }
    const seen = await run(
      { argv: ["/bin/sh", "-c", "echo $PATH; ulimit -v"], env: { PATH: ".:/work" } },
      { sandbox: "require", memoryMb: 512 },
    );
    expect(seen).toBe(".:/work\n524288\n[exit code 0]");
    await expect(readFile(join(workspace, "outside.txt"))).rejects.toThrow("ENOENT");
  });

  const asNobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
  const canBeNobody = hasNamespaces && process.getuid?.() === 0 ? needs("setpriv") : skippedFor("root, to become another user");
  canBeNobody.test("a command starts so many processes and no more, whatever else its user runs", async () => {
    await chmod(workspace, 0o755);
    const plan = { workspace, below: "", own: {}, network: false };
    const kept = (script: string) =>
      keptCommand(["/bin/sh", "-c", script], {
        ...{ sandbox: "/usr/bin/bwrap", prlimit: "/usr/bin/prlimit", plan },
        limits: { memoryMb: 8_192, processes: 16 },
      });
    const forks = (count: number) => `for i in $(seq ${count}); do sleep 1 & done; wait; echo all of them`;
    const others = Array.from({ length: 20 }, () => spawn("setpriv", [...asNobody, "sleep", "600"]));
    const outputOf = (count: number) => spawnSync("setpriv", [...asNobody, ...kept(forks(count))], { encoding: "utf8" }).stdout;
    const outputs = [outputOf(10), outputOf(30)];
    for (const other of others) other.kill("SIGKILL");
    expect(outputs).toEqual(["all of them\n", ""]);
  });

  test.each([
    ["5.13.9-generic", 1_000, false],
    ["5.14.0", 1_000, true],
    ["6.1.0-17-amd64", 1_000, true],
    ["6.1.0-17-amd64", 0, false],
    ["strange", 1_000, false],
  ])("on Linux %s the number of processes of user %i holds: %s", (kernel, uid, expected) => {
    expect(holdsProcessLimit(kernel, uid)).toBe(expected);
  });

  test("outside of it the number of processes is not limited, which would count the gateway's own", () => {
    const plan = { workspace: "/w", below: "", own: {}, network: false };
    const keeping = { sandbox: undefined, prlimit: "/usr/bin/prlimit", plan, limits: { memoryMb: 64, processes: 16 } };
    expect(keptCommand(["ls"], keeping)).toEqual(["/usr/bin/prlimit", "--as=67108864", "--core=0", "--", "ls"]);
  });

  sandboxed.test("variables that the operator lets through are no arguments, which all of the machine could read", async () => {
    const config = { sandbox: "require", env: ["OPENAI_API_KEY"] };
    expect(await run({ argv: ["printenv", "OPENAI_API_KEY"] }, config)).toContain("key-of-a-vendor");
    expect(await run({ argv: ["cat", "/proc/1/cmdline"] }, config)).not.toContain("key-of-a-vendor");
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
