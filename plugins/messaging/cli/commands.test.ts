import type { ChannelLogin, CliCommand, CliValues, JsonObject, LoginStep } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../../../test/fixtures/run-command.ts";
import { createTalkPlatform, echoModel } from "../../../test/fixtures/talk-platform.ts";
import channels from "./channels.ts";
import signIn, { drawCode } from "./login.ts";
import pairing from "./pairing.ts";
import send from "./send.ts";

/** Commands of channels on a running gateway, and the methods behind them. */

const platform = createTalkPlatform({ signIn: true });
let gw: TestGateway;
const base = {
  agents: { defaults: { skipBootstrap: true } },
  channels: { talk: { token: "good-token", allowFrom: ["@ada"], accounts: { work: {} } } },
  messages: { inbound: { debounceMs: 0 } },
};

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", platform.plugin],
    models: [echoModel()],
    config: base,
  });
  await eventually(() => platform.running.has("default") && platform.running.has("work"));
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  platform.sent.length = 0;
  platform.onLogin = undefined;
  platform.onLogout = undefined;
});

const found = (commands: readonly CliCommand[], path: string) => commands.find((one) => one.path.join(" ") === path) as CliCommand;
const run = (command: CliCommand, positionals: string[], values: CliValues = {}, more: { tty?: boolean; signal?: AbortSignal } = {}) =>
  runCommand(() => gw.client({ caps: [] }), command, { values, positionals, ...more });
const login = found(signIn, "channels login");
const logout = found(signIn, "channels logout");

/** A platform that asks for these things, one after the other. */
function asking(...steps: LoginStep[]): ChannelLogin[] {
  const asked: ChannelLogin[] = [];
  platform.onLogin = async function* (request) {
    asked.push(request);
    yield* steps;
  };
  return asked;
}

/** A platform that waits for somebody after this step. */
function waiting(step: LoginStep): { begun: Promise<unknown>; ended: Promise<unknown> } {
  let [begin, end]: Array<(reason?: unknown) => void> = [];
  const begun = new Promise((resolve) => (begin = resolve));
  const ended = new Promise((resolve) => (end = resolve));
  platform.onLogin = async function* ({ signal }) {
    yield step;
    begin?.();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    end?.(signal.reason);
    throw new Error("nobody waits");
  };
  return { begun, ended };
}

describe("svc channels login", () => {
  test("shows each step, says who it is now, and starts the account anew", async () => {
    const starts = platform.starts.length;
    const [asked] = [
      asking(
        { kind: "url", url: "https://talk.example/link?a=1" },
        { kind: "code", code: "AB\u001b[2J12" },
        { kind: "qr", text: "talk://join" },
        { kind: "done", identity: "svc\u202e (+49)", note: "Look at the phone." },
      ),
    ];
    const { out, err, code } = await run(login, ["talk"]);

    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Open https://talk.example/link?a=1\nEnter the code AB\\u001b[2J12\n");
    expect(out).toContain("Make a QR code of this text, and scan it with the app: talk://join\n");
    expect(out).toMatch(/talk, account default: signed in as svc\S* \(\+49\)\.\nLook at the phone\.\nIt is starting/);
    expect(out).not.toContain("\u202e");
    // The channel gets its own secrets, which the plugin that asks it does not know.
    expect(asked?.[0]?.config.channels.talk).toMatchObject({ token: "good-token" });
    await eventually(() => platform.starts.length === starts + 1 && platform.running.has("default"));
  });

  test("draws the QR code on a terminal", async () => {
    asking({ kind: "qr", text: "talk://join" }, { kind: "done" });
    const { out } = await run(login, ["talk"], {}, { tty: true });
    expect(out).toContain(drawCode("talk://join"));
    expect(drawCode("talk://join")?.split("\n").length).toBeGreaterThan(10);
    expect(drawCode("x".repeat(4_096))).toBeUndefined();
  });

  test("with --json leaves stdout to the end alone", async () => {
    asking({ kind: "code", code: "77" }, { kind: "done", identity: "svc" });
    const { out, err } = await run(login, ["talk"], { account: "work", json: true });
    expect(JSON.parse(out)).toEqual({ ok: true, status: "done", channel: "talk", accountId: "work", identity: "svc", started: true });
    expect(err).toBe("Enter the code 77\n");
  });

  test("ends the sign-in when it is left", async () => {
    const { begun, ended } = waiting({ kind: "code", code: "77" });
    const leaving = new AbortController();
    const left = run(login, ["talk"], {}, { signal: leaving.signal }).catch((error: unknown) => error);
    await begun;
    expect(await refusal({ channel: "talk" })).toContain("under way already");
    leaving.abort();
    expect(await left).toBeInstanceOf(Error);
    await ended;
    asking({ kind: "done" });
    await eventually(async () => (await refusal({ channel: "talk" })) === "done");
  });

  test("goes to the caller alone, and stands in no log", async () => {
    const other = await gw.ws();
    asking({ kind: "code", code: "only-for-you" }, { kind: "done" });
    await run(login, ["talk"]);
    expect(other.events.filter(({ event }) => event === "channels.login")).toEqual([]);
    expect(JSON.stringify(gw.logs)).not.toContain("only-for-you");
  });
});

/** End of a sign-in, or why it was refused. */
async function refusal(params: { channel: string; accountId?: string; timeoutMs?: number }): Promise<string> {
  const client = await gw.client();
  return client
    .request("channels.login", params, { onAccepted: () => undefined })
    .then(
      ({ status }) => status as string,
      (error: unknown) => String(error),
    )
    .finally(() => client.close());
}

describe("channels.login", () => {
  test("is refused with the reason", async () => {
    expect(await refusal({ channel: "nowhere" })).toContain("invalid channels.login channel");
    expect(await refusal({ channel: "talk", accountId: "nobody" })).toContain('has no account "nobody"');
    const weak = await gw.client({ scopes: ["operator.read", "operator.write", "operator.pairing"] });
    await expect(weak.request("channels.login", { channel: "talk" })).rejects.toThrow("operator.admin");
  });

  test.each<[string, LoginStep[], string]>([
    ["ends without a result", [{ kind: "code", code: "7" }], "without a result"],
    ["gives an address that is none", [{ kind: "url", url: "javascript:alert(1)" }], "a step that is none"],
    ["gives a text that is too long", [{ kind: "qr", text: "x".repeat(4_097) }], "a step that is none"],
    ["gives something else", [{ kind: "password" } as never], "a step that is none"],
    ["goes on for ever", Array.from({ length: 200 }, () => ({ kind: "code" as const, code: "7" })), "within 100 steps"],
  ])("fails when the channel %s", async (_, steps, reason) => {
    asking(...steps);
    expect(await refusal({ channel: "talk" })).toContain(reason);
  });

  test("fails with what the channel says, without its secrets, and in time", async () => {
    platform.onLogin = async function* () {
      yield { kind: "code", code: "7" };
      throw new Error("good-token is not welcome");
    };
    expect(await refusal({ channel: "talk" })).toMatch(/is not signed in: \*\*\* is not welcome/);
    waiting({ kind: "code", code: "7" });
    expect(await refusal({ channel: "talk", timeoutMs: 1_000 })).toContain("nobody has finished it within 1 s");
  });
});

describe("svc channels logout", () => {
  test("stops the account first, then clears what the sign-in has stored", async () => {
    const seen: string[] = [];
    platform.onLogout = async ({ accountId, config }) => {
      seen.push(`${accountId} ${platform.running.has("work")} ${(config.channels.talk as { token?: string }).token}`);
      return true;
    };
    expect((await run(logout, ["talk"], { account: "work" })).out).toBe("talk, account work: stopped; its sign-in is cleared.\n");
    expect(seen).toEqual(["work false good-token"]);
    const { out } = await run(logout, ["talk"], { account: "work", json: true });
    expect(JSON.parse(out)).toEqual({ ok: true, channel: "talk", accountId: "work", cleared: true });
  });

  test("says when there was nothing, and fails when it could not be cleared", async () => {
    expect((await run(logout, ["talk"], { account: "work" })).out).toContain("there was no sign-in to clear");
    platform.onLogout = () => Promise.reject(new Error("the platform is away"));
    await expect(run(logout, ["talk"], { account: "work" })).rejects.toThrow("its sign-in was not cleared: the platform is away");
  });

  test("clears the sign-in of an account that the config does not name yet, and of no other", async () => {
    const asked: string[] = [];
    platform.onLogout = async ({ accountId }) => asked.push(accountId) > 0;
    await expect(run(logout, ["talk"], { account: "nobody" })).rejects.toThrow('has no account "nobody"');
    await gw.reload({ ...base, channels: {} });
    expect((await run(logout, ["talk"])).out).toContain("its sign-in is cleared");
    await gw.reload(base);
    expect(asked).toEqual(["default"]);
  });

  test("ends a sign-in that is under way", async () => {
    const { begun, ended } = waiting({ kind: "code", code: "7" });
    const failed = refusal({ channel: "talk", accountId: "work" });
    await begun;
    await run(logout, ["talk"], { account: "work" });
    await ended;
    expect(await failed).toContain("being signed out");
  });
});

describe("svc channels status", () => {
  const status = found(channels, "channels status");
  /** With an address that is named the gateway is asked. */
  const url = "ws://127.0.0.1:1";

  test("shows the accounts of one channel, or of all, and what the platform says is wrong with them", async () => {
    await gw.rpc("channels.start", { channel: "talk", accountId: "work" });
    await eventually(() => platform.running.has("default") && platform.running.has("work"));
    const { out } = await run(status, ["talk"], { url, probe: true });
    expect(out).toMatch(/talk {2}default {2}ready {2}svc .*failed: refused/);
    expect(out).toContain("talk, account default: may not join rooms\n");
    expect((await run(found(channels, "channels list"), [], { url })).out).toMatch(/talk {2}work {2}ready/);
  });

  test("says that there is no such channel", async () => {
    expect((await run(status, ["sky"], { url })).out).toBe('No channel "sky" is configured.\n');
  });
});

describe("every account", () => {
  beforeAll(async () => {
    await gw.rpc("channels.start", { channel: "talk" });
    await gw.rpc("channels.start", { channel: "talk", accountId: "work" });
    await eventually(() => platform.running.has("default") && platform.running.has("work"));
  });

  test("is named by svc doctor with what its platform says that it may not do", async () => {
    const { findings } = await gw.rpc<{ findings: Array<{ id: string; message: string }> }>("gateway.doctor");
    const rights = findings.filter(({ id }) => id === "channels/rights").map(({ message }) => message);
    expect(rights).toEqual(["talk, account default: may not join rooms", "talk, account work: may not join rooms"]);
  });

  test("is linked anew after the machine stood still, but for those that are stopped", async () => {
    await gw.rpc("channels.stop", { channel: "talk", accountId: "work" });
    const starts = platform.starts.length;
    await gw.gateway.hooks.run("gateway.resumed", { gapMs: 60_000 });
    const linked = await eventually(async () => {
      const { channelAccounts } = await gw.rpc<{ channelAccounts: { talk: JsonObject[] } }>("channels.status");
      const [account] = channelAccounts.talk;
      return account?.lastRestart !== undefined && account.lifecycle === "ready" && account;
    });
    expect(linked).toMatchObject({ lastRestart: { reason: "the machine stood still for 60 s" } });
    expect(platform.starts.slice(starts)).toEqual(["default"]);
  });
});

describe("svc channels send", () => {
  test("sends the words through the account, and the same key once", async () => {
    const asked = { channel: "talk", key: "k1" };
    expect((await run(send, ["@ada", "good", "morning"], asked)).out).toBe("@ada on talk: sent.\n");
    const { out } = await run(send, ["@ada", "good", "morning"], { ...asked, json: true });
    expect(JSON.parse(out)).toMatchObject({ ok: true, runId: "k1", status: "sent", channel: "talk", to: "@ada", accountId: "default" });
    expect(platform.sent.map(({ to, text }) => [to, text])).toEqual([["@ada", "good morning"]]);
  });

  test("is refused for a recipient that is none", async () => {
    await expect(run(send, ["ada", "hi"], { channel: "talk" })).rejects.toThrow("not a valid recipient");
    await expect(run(send, ["@ada", "hi"], { channel: "nowhere" })).rejects.toThrow("unsupported channel: nowhere");
  });
});

describe("svc pairing revoke", () => {
  const revoke = found(pairing, "pairing revoke");
  const bob = { sender: { id: "@bob", name: "Bob\u202e" }, peer: { id: "@bob" } };

  test("makes a sender who was approved a stranger again", async () => {
    await gw.rpc("channels.start", { channel: "talk" });
    await eventually(() => platform.running.has("default"));
    await platform.say("let me in", bob);
    expect((await run(found(pairing, "pairing approve"), ["talk"])).out).toContain("may write direct messages now.");
    expect(await platform.say("thank you", bob)).toEqual({ status: "accepted" });

    const { out } = await run(revoke, ["talk", "@bob"]);
    expect(out).toMatch(/^Bob\S* \(@bob\) on talk, account default: may not write any more\.\n$/);
    expect(out).not.toContain("\u202e");
    expect((await platform.say("hello?", bob)).status).toBe("dropped");
    expect((await run(found(pairing, "pairing list"), ["talk"])).out).toContain("waits to be let in");
  });

  test("says that somebody is not paired", async () => {
    await expect(run(revoke, ["talk", "@nobody"])).rejects.toThrow('"@nobody" is not paired');
  });
});
