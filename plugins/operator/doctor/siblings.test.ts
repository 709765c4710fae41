import { describe, expect, test } from "vitest";
import { remoteFindings } from "./remote.ts";
import { type ProfileUse, siblingFindings } from "./siblings.ts";

const own: ProfileUse = { profile: "", port: 18_789, runs: false, workspaces: [{ agentId: "main", path: "/notes" }] };
const work: ProfileUse = { profile: "work", port: 19_500, runs: false, workspaces: [{ agentId: "ops", path: "/work" }] };

describe("gateways of several profiles", () => {
  test("that share nothing have no findings", () => expect(siblingFindings(own, [work])).toEqual([]));

  test("with one port are told of, and the one that cannot start is told why", () => {
    const other = { ...work, port: own.port };
    expect(siblingFindings(own, [other])).toMatchObject([
      { id: "siblings/port", severity: "warning", message: expect.stringContaining('"work"') },
    ]);
    expect(siblingFindings(own, [{ ...other, runs: true }])).toMatchObject([
      { severity: "error", message: 'port 18789 is held by the running gateway of profile "work"' },
    ]);
    expect(siblingFindings({ ...other, runs: true }, [own])).toMatchObject([
      { severity: "warning", fix: "svc --profile work config set gateway.port <another port>" },
    ]);
  });

  test("with one workspace write over each other's files", () => {
    const other = { ...work, workspaces: [{ agentId: "ops", path: "/notes" }] };
    expect(siblingFindings(own, [other])).toMatchObject([
      {
        id: "siblings/workspace",
        severity: "warning",
        message: expect.stringMatching(/^\/notes is the workspace of agent "main" and of agent "ops"/),
      },
    ]);
  });
});

describe("the gateway elsewhere", () => {
  const found = (remote: object, mode = "remote") => {
    const gateway = { mode, remote: { transport: "direct", ...remote } } as Parameters<typeof remoteFindings>[0];
    return remoteFindings(gateway).map(({ id, path }) => [id, path]);
  };

  test.each([
    [{ url: "wss://gw.example" }],
    [{ url: "ws://127.0.0.1:1" }],
    [{ url: "ws://192.168.1.2:1" }],
    [{ url: "ws://100.100.1.2:1" }],
    [{ url: "ws://gw.tail1234.ts.net" }],
    [{ url: "http://[fd7a:115c:a1e0::1]:1" }],
    [{ transport: "ssh", sshTarget: "me@gw" }],
  ])("%j is well", (remote) => expect(found(remote)).toEqual([]));

  test("without encryption across foreign networks is told of", () => {
    expect(found({ url: "ws://gw.example" })).toEqual([["remote/plain-text", "gateway.remote.url"]]);
    expect(found({ url: "http://203.0.113.4:1" })).toEqual([["remote/plain-text", "gateway.remote.url"]]);
    expect(found({ url: "ws://gw.example" }, "local")).toEqual([]);
  });

  test("that is not named is an error", () => {
    expect(found({})).toEqual([["remote/missing", "gateway.remote.url"]]);
    expect(found({ transport: "ssh" })).toEqual([["remote/missing", "gateway.remote.sshTarget"]]);
  });
});
