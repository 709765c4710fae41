import assert from "node:assert/strict";
import type { ChannelLogin, LoginStep } from "../types/channel.ts";
import { channelConfig } from "./channel-drive.ts";
import type { ChannelPeer } from "./channel-peer.ts";
import type { ChannelSubject } from "./channel-stage.ts";
import { type ContractCase, within } from "./contract.ts";
import { eventually } from "./eventually.ts";

/** Cases about the sign-in of a channel; they hold for one that has none. */
export function channelLoginCases(subject: ChannelSubject): ContractCase[] {
  const make = (name: string, check: (stage: LoginStage) => Promise<void>): ContractCase => ({ name, run: () => onStage(subject, check) });
  return [
    make("a sign-in ends as done once a person has followed its steps, and a sign-out leaves nothing of it", checkSignIn),
    make("a sign-in that is given up ends within 5 s and closes its links", checkGivenUp),
  ];
}

interface LoginStage {
  signIn: NonNullable<ChannelPeer["signIn"]>;
  peer: ChannelPeer;
  logs: string[];
  login(signal: AbortSignal): AsyncIterable<LoginStep>;
  logout(): Promise<boolean>;
}

async function onStage({ create, peer: open }: ChannelSubject, check: (stage: LoginStage) => Promise<void>): Promise<void> {
  const channel = create();
  if (!channel.login) {
    assert.equal(channel.logout, undefined, "there is a logout, but no login");
    return;
  }
  assert.ok(channel.logout, "there is a login, but no logout");
  const peer = await open();
  try {
    const { signIn } = peer;
    assert.ok(signIn, "the channel has a login, and its peer no `signIn`");
    const logs: string[] = [];
    const write = (message: string, fields?: unknown) => void logs.push(`${message} ${JSON.stringify(fields ?? {})}`);
    const logger: ChannelLogin["logger"] = { trace: write, debug: write, info: write, warn: write, error: write, child: () => logger };
    const config = channelConfig(channel, signIn.section);
    const request = (signal: AbortSignal): ChannelLogin => ({ config, accountId: "default", signal, logger });
    await check({
      signIn,
      peer,
      logs,
      login: (signal) => (channel.login as NonNullable<typeof channel.login>)(request(signal)),
      logout: async () => within((async () => channel.logout?.(request(new AbortController().signal)) ?? false)(), 10_000, "logout"),
    });
  } finally {
    await peer.close();
  }
}

async function checkSignIn({ signIn, login, logout, logs }: LoginStage): Promise<void> {
  assert.equal(await logout(), false, "a sign-out without a sign-in says that it cleared one");
  const steps: LoginStep[] = [];
  const follow = async () => {
    for await (const step of login(new AbortController().signal)) {
      steps.push(step);
      // The person acts while the channel waits for them.
      if (step.kind !== "done") await signIn.follow(step);
    }
  };
  await within(follow(), 10_000, "login");
  assert.equal(steps.at(-1)?.kind, "done", "the last step is not done");
  assert.equal(steps.filter(({ kind }) => kind === "done").length, 1, "it is done more than once");
  assert.ok(steps.length > 1, "it is done without asking a person for anything");
  assert.ok(signIn.isSignedIn(), "the platform does not know of the sign-in");
  for (const step of steps) {
    const shown = step.kind === "qr" ? step.text : step.kind === "url" ? step.url : step.kind === "code" ? step.code : undefined;
    if (shown !== undefined) assert.ok(!logs.join("\n").includes(shown), "a log line shows what only the person may see");
  }
  assert.equal(await logout(), true, "the sign-out does not say that it cleared the sign-in");
  assert.ok(!signIn.isSignedIn(), "the platform still takes the account as signed in");
  assert.equal(await logout(), false, "a second sign-out says that it cleared something");
}

async function checkGivenUp({ signIn, peer, login }: LoginStage): Promise<void> {
  const ending = new AbortController();
  const follow = async () => {
    for await (const step of login(ending.signal)) {
      assert.notEqual(step.kind, "done", "it is done, and nobody has done anything");
      ending.abort(new Error("nobody waits any more"));
    }
  };
  await within(
    follow().catch(() => undefined),
    5_000,
    "login, after its signal",
  );
  await eventually(() => assert.equal(peer.connections(), 0, "links that are still open") ?? true, 5_000);
  assert.ok(!signIn.isSignedIn(), "the platform takes the account as signed in");
}
