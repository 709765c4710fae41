import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type ForceDeps, freePort } from "./free-port.ts";

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A process of its own that listens on a port of its own. */
async function listener(): Promise<{ pid: number; port: number; closed: Promise<unknown[]> }> {
  const code = 'const s = require("net").createServer().listen(0, "127.0.0.1", () => process.stdout.write(String(s.address().port)))';
  const child = spawn(process.execPath, ["-e", code]);
  cleanups.push(() => child.kill("SIGKILL"));
  const closed = once(child, "close");
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return { pid: child.pid as number, port: Number(port), closed };
}

describe("--force", () => {
  it("ends the process that listens on the port, and says so", async () => {
    const { pid, port, closed } = await listener();
    const told: string[] = [];
    await freePort("127.0.0.1", port, (line) => told.push(line));
    expect(await closed).toEqual([null, "SIGTERM"]);
    expect(told).toEqual([expect.stringMatching(`SIGTERM to ".+" \\(pid ${pid}\\) on port ${port}`)]);
  });

  it("does nothing when the port is free", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    await freePort("127.0.0.1", port, () => expect.fail("nobody to end"));
  });

  it("never ends this process or one it descends from", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    await expect(freePort("127.0.0.1", port, () => expect.fail("signalled"))).rejects.toMatchObject({
      code: "port-owner-protected",
      fields: { pid: process.pid },
    });
  });
});

describe("--force on a system that says", () => {
  const holder = { pid: 4711, command: "x", uid: 1000 };
  const deps = (over: Partial<ForceDeps>): ForceDeps => ({
    find: async () => [holder],
    kill: () => expect.fail("signalled"),
    isFree: async () => false,
    stopService: async () => undefined,
    lineage: async () => new Set([1, 50]),
    uid: 1000,
    ...over,
  });
  const refusal = (over: Partial<ForceDeps>) =>
    freePort("127.0.0.1", 80, () => undefined, deps(over)).then(
      () => expect.fail("expected a refusal"),
      (error: Error & { code: string }) => ({ code: error.code, message: error.message }),
    );

  it("the address is free, whoever listens on the port elsewhere: touches nobody", async () => {
    await freePort("127.0.0.1", 80, () => expect.fail("nobody to end"), deps({ isFree: async () => true }));
  });

  it("somebody invisible holds the port: says so and touches nobody", async () => {
    expect(await refusal({ find: async () => [] })).toMatchObject({
      code: "port-owner-unknown",
      message: expect.stringContaining("port 80 is busy but its owner could not be identified"),
    });
  });

  it.each([
    ["pid 1", { ...holder, pid: 1 }, "init process"],
    ["an ancestor", { ...holder, pid: 50 }, "runs inside it"],
    ["another user's", { ...holder, uid: 0 }, "another user"],
  ])("it is %s: refuses", async (_, protectedHolder, reason) => {
    const { code, message } = await refusal({ find: async () => [protectedHolder] });
    expect(code).toBe("port-owner-protected");
    expect(message).toContain(reason);
  });

  it("its supervisor would start it again: stops the service, and sends no signal", async () => {
    let isHeld = true;
    const told: string[] = [];
    const stopService = async (pid: number) => {
      isHeld = false;
      return pid === holder.pid ? "svc-gateway.service" : undefined;
    };
    const over = { stopService, find: async () => (isHeld ? [holder] : []), isFree: async () => !isHeld };
    await freePort("127.0.0.1", 80, (line) => told.push(line), deps(over));
    expect(told).toEqual(['--force: stopped svc-gateway.service, which ran "x" (pid 4711) on port 80']);
  });

  it("the signal is not permitted: reports the cause", async () => {
    const kill = () => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    };
    expect(await refusal({ kill })).toEqual({ code: "port-owner-protected", message: expect.stringContaining("kill EPERM") });
  });

  it("one of several holders is protected: ends none of them", async () => {
    const { code } = await refusal({ find: async () => [holder, { ...holder, pid: 1 }] });
    expect(code).toBe("port-owner-protected");
  });
});
