import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually, vendorIn } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { channelConfig, driveAccount } from "../../test/fixtures/driven-account.ts";
import { type Dovecot, startDovecot } from "../../test/servers/dovecot.ts";
import { needsMail } from "../../test/servers/mail-needs.ts";
import { type OauthProvider, startOauthProvider } from "../../test/servers/oauth-provider.ts";
import { type SmtpInbox, startSmtpInbox } from "../../test/servers/smtp-inbox.ts";
import { createMailChannel } from "./channel.ts";
import { connectImap } from "./connect.ts";
import { createMemoryKv } from "./memory-kv.ts";
import { TIMING } from "./timing.ts";
import { AccessTokens } from "./tokens.ts";

const { describe, test } = await needsMail("openssl");

const USER = "agent@example.net";
const REFRESH = "refresh-7d1e0b";
const SECRET = "client-secret-55a";
let provider: OauthProvider;
let dovecot: Dovecot;
let smtp: SmtpInbox;
let smtps: SmtpInbox;
const ends: Array<() => Promise<unknown>> = [];

beforeAll(async () => {
  provider = await startOauthProvider({ user: USER, refreshToken: REFRESH, clientSecret: SECRET });
  dovecot = await startDovecot({ tls: true, introspectionUrl: provider.introspectionUrl });
  const certificate = dovecot.tls?.certificate;
  if (!certificate) throw new Error("expected a certificate");
  smtp = await startSmtpInbox({ password: dovecot.password, tls: { certificate, isImplicit: false } });
  smtps = await startSmtpInbox({ tokens: provider.tokens, tls: { certificate, isImplicit: true } });
});
afterAll(async () => {
  await smtp?.close();
  await smtps?.close();
  await dovecot?.stop();
  await provider?.close();
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const ca = () => ({ host: "localhost", caPath: dovecot.tls?.certificate.cert });
const byPassword = () => ({
  address: USER,
  password: dovecot.password,
  imap: { ...ca(), port: dovecot.port, security: "starttls" },
  smtp: { ...ca(), port: smtp.port, security: "starttls" },
  authservId: "mx.example.org",
});
const byToken = () => ({
  address: USER,
  oauth: { refreshToken: REFRESH, tokenUrl: provider.tokenUrl, clientId: "svc", clientSecret: SECRET },
  imap: { ...ca(), port: dovecot.tls?.port },
  smtp: { ...ca(), port: smtps.port },
  unverifiedSenders: "accept",
});

function channel() {
  const deps = { vendor: vendorIn(import.meta.dirname), kv: createMemoryKv(), fetch, now: Date.now };
  return createMailChannel(deps, { reconnectMs: 20, offerMs: 20, firstPollMs: 100 });
}

async function look(section: object) {
  const mail = channel();
  const account = mail.config.resolve(channelConfig("mail", section), "default");
  const signal = AbortSignal.timeout(20_000);
  return { probe: await mail.probe?.(account, signal), audit: await mail.audit?.(account, signal) };
}

function drive(section: object) {
  const mail = channel();
  const account = driveAccount(mail, section);
  ends.push(() => account.stop());
  return { account, send: () => mail.send({ uid: "u", to: "ada@example.org", text: { text: "hello" } }, account.run) };
}

const findings = (audit: Array<{ id: string; ok: boolean }> | undefined) => Object.fromEntries((audit ?? []).map(({ id, ok }) => [id, ok]));

describe("an account", () => {
  test("logs in over STARTTLS with the authorities of caPath, and nobody else's", async () => {
    const { probe, audit } = await look(byPassword());
    expect(probe).toMatchObject({ ok: true, identity: USER });
    expect(findings(audit)).toEqual({
      "imap-tls": true,
      "smtp-tls": true,
      senders: true,
      imap: true,
      smtp: true,
      idle: true,
      keywords: true,
    });

    const { caPath: _, ...imap } = byPassword().imap;
    expect((await look({ ...byPassword(), imap })).probe).toMatchObject({
      ok: false,
      error: expect.stringMatching(/self-signed|certificate/),
    });
  });

  test("does not go on in clear where STARTTLS was asked for and is not offered", async () => {
    const plain = await startSmtpInbox({ password: dovecot.password });
    ends.push(() => plain.close());

    const { probe } = await look({ ...byPassword(), smtp: { ...byPassword().smtp, port: plain.port } });

    expect(probe).toMatchObject({ ok: false, error: expect.stringMatching(/SMTP/) });
  });

  test("logs in to both servers with tokens that a refresh token gets, once while they are good", async () => {
    const { account, send } = drive(byToken());
    await account.is("ready");
    const requests = provider.requests();

    await send();

    expect(provider.requests()).toBe(requests);
    expect(smtps.mails).toHaveLength(1);
    expect(findings((await look(byToken())).audit)).toMatchObject({ imap: true, smtp: true, senders: false });
  });

  test("gets a new token when the server does not take the old one any more", async () => {
    const { account, send } = drive(byToken());
    await account.is("ready");
    provider.tokens.clear();

    await send();

    await dovecot.restart();
    await eventually(() => account.states.filter(({ lifecycle }) => lifecycle === "ready").length > 1);
  });

  test("that ends waits no longer for an access token", async () => {
    const silent = createServer();
    const asked = once(silent, "request");
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    ends.push(async () => {
      silent.closeAllConnections();
      await once(silent.close(), "close");
    });
    const tokenUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/token`;
    const section = channelConfig("mail", { ...byToken(), oauth: { ...byToken().oauth, tokenUrl } });
    const account = channel().config.resolve(section, "default");
    if (!account.oauth) throw new Error("expected settings for OAuth");
    const tokens = new AccessTokens(account.oauth, { fetch, now: Date.now });
    const ending = new AbortController();
    const reach = { account, vendor: vendorIn(import.meta.dirname), timing: TIMING, tokens };

    const link = connectImap(reach, ending.signal);
    await asked;
    ending.abort(new Error("the account ends"));

    await expect(link).rejects.toThrow("the account ends");
  });

  test("is blocked when the provider takes the refresh token back, and shows no secret", async () => {
    const { account } = drive({ ...byToken(), oauth: { ...byToken().oauth, refreshToken: "refresh-wrong" } });

    expect((await account.is("blocked")).lastError).toContain("invalid_grant");
    expect(JSON.stringify([account.states, account.logs])).not.toMatch(/refresh-wrong|client-secret/);
  });

  test("is blocked when the servers refuse the only token there is", async () => {
    const { account } = drive({ ...byToken(), oauth: { accessToken: "access-wrong" } });

    expect((await account.is("blocked")).lastError).toContain("refused the login");
  });
});
