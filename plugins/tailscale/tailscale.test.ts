import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processStartTime } from "svc/sdk/internal";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { endLeftover, forgetServe, rememberServe } from "./leftover.ts";
import { nameIn, PublishFailure } from "./node-name.ts";

describe("what a killed gateway left", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-leftover-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A process that goes on until somebody ends it. */
  async function goingOn(): Promise<ChildProcess & { pid: number }> {
    const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 60_000)"], { stdio: "ignore" });
    await once(child, "spawn");
    onTestFinished(() => void child.kill("SIGKILL"));
    return child as ChildProcess & { pid: number };
  }

  test("is ended by the next start, once", async () => {
    const child = await goingOn();
    const ended = once(child, "exit");
    await rememberServe(folder, child.pid);
    expect(await endLeftover(folder)).toBe(processStartTime(child.pid) === null ? undefined : child.pid);
    if (processStartTime(process.pid) !== null) expect(await ended).toEqual([null, "SIGTERM"]);
    expect(await endLeftover(folder)).toBeUndefined();
  });

  test("is no other process that has its number by now, nor what a damaged file names", async () => {
    const child = await goingOn();
    await writeFile(join(folder, "serve.json"), JSON.stringify({ pid: child.pid, startTime: "1", createdAt: 1 }));
    expect(await endLeftover(folder)).toBeUndefined();
    for (const text of ["{", "null", JSON.stringify({ pid: child.pid, startTime: null }), JSON.stringify({ pid: 1, startTime: "1" })]) {
      await writeFile(join(folder, "serve.json"), text);
      expect(await endLeftover(folder)).toBeUndefined();
    }
    expect(child.exitCode ?? child.signalCode).toBeNull();
  });

  test("is nothing after a stop in order", async () => {
    await rememberServe(folder, (await goingOn()).pid);
    await forgetServe(folder);
    expect(await readdir(folder)).toEqual([]);
    expect(await endLeftover(folder)).toBeUndefined();
  });
});

describe("the name of this machine", () => {
  const status = (change: object) => JSON.stringify({ BackendState: "Running", Self: { DNSName: "Gw.Tail1234.ts.net." }, ...change });

  test("is that of the tailnet, without the root dot", () => expect(nameIn(status({}))).toBe("gw.tail1234.ts.net"));

  test.each<[string, string, string]>([
    [status({ BackendState: "NeedsLogin" }), "tailscale is not connected (NeedsLogin)", "run tailscale up"],
    ["no JSON", "tailscale is not connected (no state)", "run tailscale up"],
    [status({ Self: { DNSName: "" } }), "names no DNS name", "enable MagicDNS and HTTPS certificates for the tailnet"],
    [status({ Self: { DNSName: "a/b.example" } }), "names no DNS name", "enable MagicDNS and HTTPS certificates for the tailnet"],
  ])("is missing from %.60s", (output, message, advice) => {
    const failure = (() => {
      try {
        return nameIn(output);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(PublishFailure);
    expect(failure).toMatchObject({ message: expect.stringContaining(message), advice });
  });
});
