import { afterEach, expect, test, vi } from "vitest";
import { channelConfig } from "../../test/fixtures/driven-account.ts";
import { CHANNEL_ID, resolveAccount } from "./accounts.ts";
import { logIn } from "./login.ts";
import { TIMING } from "./timing.ts";

const account = resolveAccount(channelConfig(CHANNEL_ID, { jid: "bot@example.org", password: "pw-1" }), "default");
const logInWithoutDns = (signal: AbortSignal) =>
  logIn({ account, timing: TIMING, signal, resource: "svc" }, () => new Promise(() => undefined));

afterEach(() => void vi.useRealTimers());

test("a stop does not wait for a DNS that never answers", async () => {
  const stopping = new AbortController();
  const login = logInWithoutDns(stopping.signal);

  stopping.abort(new Error("stopped"));

  await expect(login).rejects.toThrow("stopped");
});

test("a DNS that never answers is given up", async () => {
  vi.useFakeTimers();
  const login = expect(logInWithoutDns(new AbortController().signal)).rejects.toThrow(
    "the DNS did not say within 10 s where the server of example.org is",
  );

  await vi.advanceTimersByTimeAsync(10_000);

  await login;
});
