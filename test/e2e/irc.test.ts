import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { connectUser, type IrcUser } from "../servers/irc-user.ts";
import { needs } from "../servers/needs.ts";
import { type Ngircd, startNgircd } from "../servers/ngircd.ts";
import { aroundMessages, configured, freshHome, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere, type RunningHere } from "./_gateway-here.ts";
import type { Home } from "./_process.ts";

const { describe, test } = needs("ngircd");

const QUESTION = "Where is the router?";

let server: Ngircd;
let home: Home;
let gateway: RunningHere;
let ada: IrcUser;

const config = (port: number) => ({
  gateway: { mode: "local", auth: { token } },
  agents: { defaults: { skipBootstrap: true } },
  plugins: aroundMessages("channel-irc", "memory-core", "model-recall", "operator"),
  channels: {
    irc: {
      host: "127.0.0.1",
      port,
      tls: { enabled: false },
      nick: "agent",
      rooms: ["#kitchen"],
      groups: { "#kitchen": {} },
      burstLines: 100,
      lineIntervalMs: 0,
    },
  },
});

/** Texts that the account has written to somebody or to a room, in the order of their arrival. */
const told = (target: string) =>
  ada.lines.flatMap((line) =>
    line.startsWith(":agent!") && line.includes(` PRIVMSG ${target} :`) ? [line.slice(line.indexOf(" :") + 2)] : [],
  );

async function svc(...args: string[]) {
  const done = await command(home, args, { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(done, done.stderr).toMatchObject({ code: 0 });
  return done.stdout;
}

async function ircAccount() {
  const { value } = await commandJson(home, ["channels", "status"], { SVC_GATEWAY_PORT: String(gateway.port) });
  return (value as { channelAccounts: { irc: Array<{ lifecycle: string; identity?: string }> } }).channelAccounts.irc[0];
}

const isReady = () => eventually(async () => (await ircAccount())?.lifecycle === "ready");

beforeAll(async () => {
  server = await startNgircd();
  home = await configured(await freshHome(), config(server.port));
  gateway = await gatewayHere(home);
  await writeFile(join(home.stateDir, "workspace", "MEMORY.md"), "# Home\n\nThe router is in the cupboard under the stairs.\n");
  ada = await connectUser({ port: server.port, nick: "ada" });
  await ada.join("#kitchen");
  await isReady();
});
afterAll(async () => {
  await ada?.close();
  await stopAll();
  await server?.stop();
});

describe("somebody on IRC", () => {
  test("who is a stranger gets a code, is approved, and is answered from the notes", async () => {
    await ada.say("agent", QUESTION);
    const code = await eventually(() => /[A-HJ-NP-Z2-9]{8}/.exec(told("ada").join("\n"))?.[0]);

    await ada.say("agent", "let me in");
    expect(await svc("pairing", "approve", "irc", code)).toContain("may write direct messages now");
    expect(told("ada").filter((text) => text.includes(code)).length).toBeLessThanOrEqual(2);
    await ada.say("agent", QUESTION);

    await eventually(() => expect(told("ada").join("\n")).toContain("cupboard under the stairs") ?? true);
    expect(told("ada").join("\n")).toMatch(/Source: MEMORY\.md#L\d+/);
  });

  test("in a room is answered when the agent is named, and not otherwise", async () => {
    await ada.say("#kitchen", "nobody asked the reagent");
    await ada.say("#kitchen", `Agent: ${QUESTION}`);

    await eventually(() => expect(told("#kitchen").join("\n")).toContain("cupboard under the stairs") ?? true);
    expect(
      told("#kitchen")
        .join("\n")
        .match(/cupboard/g),
    ).toHaveLength(1);
  });

  test("finds the account again after the server was gone, and operators see it all the time", async () => {
    await server.kill();
    await eventually(async () => (await ircAccount())?.lifecycle === "recovering");
    await server.restart();
    await isReady();
    ada = await connectUser({ port: server.port, nick: "ada" });
    await ada.join("#kitchen");

    await ada.say("agent", QUESTION);

    await eventually(() => expect(told("ada").join("\n")).toContain("cupboard under the stairs") ?? true);
    expect(await svc("channels", "status", "--probe")).toMatch(/irc\s+default\s+ready\s+agent.*ok \(\d+ ms\)/);
  });

  test("is waited for while the account is stopped by hand", async () => {
    await svc("channels", "stop", "irc");
    await eventually(async () => (await ircAccount())?.lifecycle === "stopped");
    const before = told("ada").length;
    await ada.say("agent", "is anybody there?");
    await ada.sees(/ 401 ada agent /);
    await svc("channels", "start", "irc");
    await isReady();
    // Nothing was kept of what was said meanwhile.
    expect(told("ada")).toHaveLength(before);

    await ada.say("agent", "are you there?");

    await eventually(() => told("ada").length > before);
  });

  test("is told of by svc channels logs, by account and without anything else", async () => {
    const lines = (await svc("channels", "logs", "irc", "--account", "default", "--plain")).trim().split("\n");
    expect(lines.some((line) => line.includes("channel irc, account default is recovering"))).toBe(true);
    expect(lines.filter((line) => !line.includes("/plugin/messaging/irc/default]") && !line.startsWith("    "))).toEqual([]);
    expect(await svc("channels", "logs", "irc", "--account", "work")).toBe("");
    expect(await command(home, ["channels", "logs", "--account", "work"], {})).toMatchObject({ code: 2 });
  });

  test("sees the account leave when the channel is taken out of the config", async () => {
    const refused = await command(home, ["channels", "remove", "sky"], { SVC_GATEWAY_PORT: String(gateway.port) });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no channel "sky"; it has irc') });
    expect(await svc("channels", "remove", "irc")).toBe("irc: taken out of the config.\n");
    await ada.sees(/^:agent!\S+ QUIT /);
    expect(await svc("channels", "status")).toBe("No channel is configured.\n");
    expect(await readFile(join(home.stateDir, "svc.json"), "utf8")).not.toContain("kitchen");
  });
});
