import { describe, expect, test } from "vitest";
import { remoteTarget } from "./remote-target.ts";
import { tunnelArgs } from "./ssh-tunnel.ts";

const around = { flags: { token: undefined, password: undefined }, env: {}, configDir: "/home/me/.svc" };
const remote = (section: object, more: Partial<typeof around> = {}) =>
  remoteTarget({ mode: "remote", remote: section }, { ...around, ...more });

describe("the gateway that gateway.remote names", () => {
  test.each([
    ["wss://gw.example", { url: "wss://gw.example", host: "gw.example", port: 443 }],
    ["https://gw.example/", { url: "wss://gw.example", host: "gw.example", port: 443 }],
    ["http://10.0.0.7:18789", { url: "ws://10.0.0.7:18789", host: "10.0.0.7", port: 18_789 }],
  ])("%s", (url, target) => {
    expect(remote({ url })).toEqual({ ...target, portSource: "remote", secretSource: "none" });
  });

  test("is used in mode remote only, and only when there is one", () => {
    expect(remoteTarget({ mode: "local", remote: { url: "wss://gw.example" } }, around)).toBeUndefined();
    expect(remoteTarget({ remote: { url: "wss://gw.example" } }, around)).toBeUndefined();
    expect(remote({})).toBeUndefined();
    expect(remoteTarget({ mode: "remote", remote: "nonsense" }, around)).toBeUndefined();
  });

  test("gets secrets that were meant for it: command line, then gateway.remote, then environment", () => {
    const url = "wss://gw.example";
    const env = { SVC_GATEWAY_TOKEN: "from-env" };
    expect(remote({ url }, { env })).toMatchObject({ token: "from-env", secretSource: "env" });
    expect(remote({ url, token: "from-config" }, { env })).toMatchObject({ token: "from-config", secretSource: "config" });
    expect(remote({ url, password: "pw" }, { env })).not.toHaveProperty("token");
    const flags = { token: undefined, password: "from-flag" };
    expect(remote({ url, token: "from-config" }, { env, flags: flags as never })).toMatchObject({
      password: "from-flag",
      secretSource: "flag",
    });
  });

  test("keeps the certificate it pins", () => {
    expect(remote({ url: "wss://gw.example", tlsFingerprint: "ab".repeat(32) })).toMatchObject({ tlsFingerprint: "ab".repeat(32) });
  });

  test.each([
    [{ url: "ftp://gw.example" }, "gateway.remote.url: expected ws://"],
    [{ url: "wss://me:secret@gw.example" }, "without user and password"],
    [{ transport: "ssh" }, "gateway.remote.sshTarget names no host"],
    [{ transport: "ssh", sshTarget: "me@gw", url: "wss://127.0.0.1:18789" }, "set gateway.remote.tlsFingerprint too"],
  ])("%j is refused", (section, message) => {
    expect(() => remote(section)).toThrow(message);
  });
});

describe("a port forward", () => {
  const ssh = (section: object) => remote({ transport: "ssh", ...section });

  test("leads to the default port of the other end, or where the address says", () => {
    expect(ssh({ sshTarget: "me@gw" })).toMatchObject({ url: "ws://127.0.0.1:18789", ssh: { target: "me@gw" } });
    expect(ssh({ sshTarget: "me@gw", url: "ws://10.0.0.7:19001", sshIdentity: "keys/id" })).toMatchObject({
      host: "10.0.0.7",
      port: 19_001,
      ssh: { target: "me@gw", identity: "/home/me/.svc/keys/id" },
    });
  });

  test("asks nobody anything, shares no connection, and ends when the port cannot be had", () => {
    const args = tunnelArgs({ ssh: { target: "me@gw:2222", identity: "/k" }, host: "127.0.0.1", port: 18_789 }, 40_000);
    for (const option of ["BatchMode=yes", "ExitOnForwardFailure=yes", "ControlPath=none", "IdentitiesOnly=yes"])
      expect(args).toContain(option);
    expect(args.slice(-6)).toEqual(["-p", "2222", "-L", "127.0.0.1:40000:127.0.0.1:18789", "--", "me@gw"]);
  });

  test("to what ssh would take for an option is refused before ssh runs", () => {
    const target = { ssh: { target: "-oProxyCommand=id" }, host: "127.0.0.1", port: 1 };
    expect(() => tunnelArgs(target, 2)).toThrow("gateway.remote.sshTarget: expected");
  });
});
