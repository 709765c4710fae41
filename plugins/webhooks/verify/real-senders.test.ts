import { createHmac } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import type { VerifyConfig } from "./scheme.ts";
import { createVerifier } from "./verifier.ts";

// Bodies as senders write them: not ASCII, with spaces, with escapes that a second writing would change.
const bodies = ['{"id":"evt_1","type":"demo"}', '{ "id" : "evt_2",\n "text": "Größe ☃ \\u0041 \\/" }', "[1, 2.0, 1e3]"];
const seconds = () => Math.floor(Date.now() / 1_000);

function judge(verify: VerifyConfig, headers: Record<string, string>, body: string) {
  return createVerifier({ id: "m", verify }).verify({ headers, body: Buffer.from(body), now: Date.now() });
}
const good = { ok: true };
const bad = { ok: false, reason: "no_match" };

describe.each(bodies)("of the body %j", (body) => {
  test("what GitHub's own library signs is taken, and nothing else", async () => {
    const headers = { "x-hub-signature-256": await sign("gh-secret", body) };
    expect(await judge({ provider: "github", secret: "gh-secret" }, headers, body)).toEqual(good);
    expect(await judge({ provider: "github", secret: "gh-secret" }, headers, `${body} `)).toEqual(bad);
    expect(await judge({ provider: "github", secret: "other" }, headers, body)).toEqual(bad);
  });

  test("what Stripe's own library signs is taken, while one secret replaces another too", async () => {
    const made = (secret: string, timestamp = seconds()) => ({
      "stripe-signature": new Stripe("sk_test_none").webhooks.generateTestHeaderString({ payload: body, secret, timestamp }),
    });
    const verify: VerifyConfig = { provider: "stripe", secrets: ["whsec_new", "whsec_old"] };
    expect(await judge(verify, made("whsec_new"), body)).toEqual(good);
    expect(await judge(verify, made("whsec_old"), body)).toEqual(good);
    expect(await judge(verify, made("whsec_none"), body)).toEqual(bad);
    expect(await judge(verify, made("whsec_new"), `${body} `)).toEqual(bad);
    expect(await judge(verify, made("whsec_new", seconds() - 400), body)).toEqual({ ok: false, reason: "timestamp_out_of_tolerance" });
  });

  test("what the library of Standard Webhooks signs is taken, under both names of its headers", async () => {
    const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    const at = new Date();
    const signature = new Webhook(secret).sign("msg_1", at, body);
    const timestamp = String(Math.floor(at.getTime() / 1_000));
    for (const family of ["webhook", "svix"]) {
      const headers = { [`${family}-id`]: "msg_1", [`${family}-timestamp`]: timestamp, [`${family}-signature`]: signature };
      expect(await judge({ provider: "standard-webhooks", secret }, headers, body)).toEqual(good);
      expect(await judge({ provider: "standard-webhooks", secret }, headers, `${body} `)).toEqual(bad);
      expect(await judge({ provider: "standard-webhooks", secret }, { ...headers, [`${family}-id`]: "msg_2" }, body)).toEqual(bad);
    }
  });

  test("and what we take of Standard Webhooks, their library takes as well", async () => {
    const key = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    const timestamp = String(seconds());
    const digest = createHmac("sha256", "0123456789abcdef01234567").update(`msg_1.${timestamp}.${body}`).digest("base64");
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${digest}` };
    expect(await judge({ provider: "standard-webhooks", secret: key }, headers, body)).toEqual(good);
    expect(new Webhook(key).verify(body, headers)).toEqual(JSON.parse(body));
  });
});
