import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { turnsDuring } from "../../../test/fixtures/turns-during.ts";
import type { VerifyConfig } from "./scheme.ts";
import { createVerifier, secretProblems } from "./verifier.ts";

const BODY = '{"id":"evt_1","type":"demo"}';
const AT = 1_700_000_000;
const NOW = AT * 1_000;
const standardSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";

const hmac = (key: string | Buffer, text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", key).update(text).digest(encoding);
const bytes = (text: string) => new TextEncoder().encode(text);

interface Vector {
  verify: VerifyConfig;
  headers: Record<string, string>;
}
/** The published vectors: body, time and id are those above. */
const vectors: Record<string, Vector> = {
  github: {
    verify: { provider: "github", secret: "gh-secret" },
    headers: { "x-hub-signature-256": "sha256=0039613a53045c872a9cac2de7b2ec46c5e12798b7f7923ddcd96dd88301d804" },
  },
  stripe: {
    verify: { provider: "stripe", secret: "whsec_demo" },
    headers: { "stripe-signature": `t=${AT},v1=1035ec7ab90b19e5489f42be5a83027a3149823658fc605010f50ad292b1494a` },
  },
  slack: {
    verify: { provider: "slack", secret: "slack-secret" },
    headers: {
      "x-slack-signature": "v0=fa08b6f597af42ac8a7d733b12900d85af884f6140c1f7f6ddd3566a98056511",
      "x-slack-request-timestamp": String(AT),
    },
  },
  "standard-webhooks": {
    verify: { provider: "standard-webhooks", secret: standardSecret },
    headers: {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(AT),
      "webhook-signature": "v1,nWvj0nYklCMZpznX3HvRJv0ep0USIJO+xuG6kpLHXA8=",
    },
  },
  hmac: {
    verify: { provider: "hmac", secret: "own", header: "X-Sign", prefix: "v=", timestampHeader: "X-Time", idHeader: "X-Id" },
    headers: { "x-sign": `v=${hmac("own", `${AT}.${BODY}`)}`, "x-time": String(AT) },
  },
};
const all = Object.entries(vectors).map(([name, vector]) => ({ name, ...vector }));
const timed = all.filter(({ name }) => name !== "github");

function judge({ verify, headers }: Vector, body = BODY, now = NOW) {
  return createVerifier({ id: "m", verify }).verify({ headers, body: bytes(body), now });
}
const good = { ok: true };
const bad = { ok: false, reason: "no_match" };
const missing = { ok: false, reason: "missing_header" };
const untimely = { ok: false, reason: "timestamp_out_of_tolerance" };

describe("a signature", () => {
  test.each(all)("of $name is taken when it fits", async (vector) => {
    expect(await judge(vector)).toEqual(good);
  });

  test.each(all)("of $name is refused for a body with one space more, or written anew from its JSON", async (vector) => {
    expect(await judge(vector, BODY.replace(":", ": "))).toEqual(bad);
    expect(await judge(vector, `${BODY} `)).toEqual(bad);
    expect(await judge(vector, JSON.stringify(JSON.parse(BODY), null, 1))).toEqual(bad);
    expect(await judge(vector, "")).toEqual(bad);
  });

  test.each(timed)("of $name is good for five minutes before and after its time, and no second longer", async (vector) => {
    expect(await judge(vector, BODY, NOW + 300_000)).toEqual(good);
    expect(await judge(vector, BODY, NOW - 300_000)).toEqual(good);
    expect(await judge(vector, BODY, NOW + 301_000)).toEqual(untimely);
    expect(await judge(vector, BODY, NOW - 301_000)).toEqual(untimely);
  });

  test.each(timed)("of $name is good for as long as the mapping says", async ({ verify, headers }) => {
    const patient = { verify: { ...verify, toleranceSeconds: 900 }, headers };
    expect(await judge(patient, BODY, NOW + 900_000)).toEqual(good);
    expect(await judge(patient, BODY, NOW + 901_000)).toEqual(untimely);
  });

  test("of GitHub has no time: it stays good", async () => {
    expect(await judge(vectors.github as Vector, BODY, NOW + 1e12)).toEqual(good);
  });

  test.each(all)("of $name is missed when a header of it is missing or blank", async ({ verify, headers }) => {
    for (const name of Object.keys(headers)) {
      const { [name]: _, ...rest } = headers;
      expect(await judge({ verify, headers: rest })).toEqual(missing);
      expect(await judge({ verify, headers: { ...rest, [name]: "  " } })).toEqual(missing);
    }
  });

  test.each(all)(
    "of $name is judged by every secret, new and old, and by no other",
    async ({ verify: { secret = "", ...verify }, headers }) => {
      const other = secret.startsWith("whsec_") ? "whsec_b3RoZXIga2V5" : "other";
      expect(await judge({ verify: { ...verify, secrets: [other, secret] }, headers })).toEqual(good);
      expect(await judge({ verify: { ...verify, secrets: [secret, other] }, headers })).toEqual(good);
      expect(await judge({ verify: { ...verify, secrets: [other] }, headers })).toEqual(bad);
    },
  );

  test.each(all)("of $name is refused by a mapping whose secrets are blank or missing", async ({ verify, headers }) => {
    for (const secrets of [[], [""], ["   "]]) {
      expect(await createVerifier({ id: "m", verify }, secrets).verify({ headers, body: bytes(BODY), now: NOW })).toEqual(bad);
    }
  });

  test.each(all)("of $name made with an empty key opens nothing", async ({ verify, headers, name }) => {
    const before = { github: "", slack: `v0:${AT}:`, "standard-webhooks": `msg_1.${AT}.` }[name] ?? `${AT}.`;
    const forged = hmac("", before + BODY, name === "standard-webhooks" ? "base64" : "hex");
    const sent = Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key, value.replace(/(v1,|v1=|v0=|v=|sha256=).*$/, `$1${forged}`)]),
    );
    expect(await createVerifier({ id: "m", verify }, [""]).verify({ headers: sent, body: bytes(BODY), now: NOW })).toEqual(bad);
  });

  test.each(timed)("of $name with a time that is no plain number is refused", async ({ verify, headers }) => {
    for (const time of ["1e9", "-1", "0x6553f100", `${AT}.0`, `${AT} ${AT}`, "now", `${AT}000`]) {
      const sent = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, value.replace(String(AT), time)]));
      expect((await judge({ verify, headers: sent })).ok).toBe(false);
    }
  });
});

describe("GitHub", () => {
  const verify: VerifyConfig = { provider: "github", secret: "gh-secret" };
  const signature = `sha256=${hmac("gh-secret", BODY)}`;

  test("is not believed by its older SHA-1 header, alone or in the place of the newer one", async () => {
    const sha1 = `sha1=${createHmac("sha1", "gh-secret").update(BODY).digest("hex")}`;
    expect(await judge({ verify, headers: { "x-hub-signature": sha1 } })).toEqual(missing);
    expect(await judge({ verify, headers: { "x-hub-signature-256": sha1 } })).toEqual(bad);
  });

  test.each([
    ["twice, in two headers", `${signature}, ${signature}`],
    ["without its prefix", hmac("gh-secret", BODY)],
    ["under the name of another algorithm", signature.replace("sha256=", "sha512=")],
    ["cut by one digit", signature.slice(0, -1)],
    ["one digit longer", `${signature}0`],
    ["with a character that is no digit", `${signature.slice(0, -1)}g`],
  ])("is refused when the signature is %s", async (_name, value) => {
    expect(await judge({ verify, headers: { "x-hub-signature-256": value } })).toEqual(bad);
  });

  test("gets 204 for its ping, tells the id of a delivery, and keeps its signatures out of templates", async () => {
    const verifier = createVerifier({ id: "gh", verify });
    expect(verifier.answer({ headers: { "x-github-event": "ping" }, payload: {} })).toEqual({ status: 204 });
    expect(verifier.answer({ headers: { "x-github-event": "push" }, payload: {} })).toBeUndefined();
    expect(verifier.deliveryId({ headers: { "x-github-delivery": " d-1 " }, payload: {} })).toBe("d-1");
    expect(verifier.deliveryId({ headers: {}, payload: { id: 1 } })).toBeUndefined();
    expect(verifier).toMatchObject({ mapping: "gh", provider: "github", mode: "with-token" });
    expect(verifier.secretHeaders).toEqual(["x-hub-signature-256", "x-hub-signature"]);
  });
});

describe("Stripe", () => {
  const verify: VerifyConfig = { provider: "stripe", secret: "whsec_demo" };
  const v1 = hmac("whsec_demo", `${AT}.${BODY}`);
  const sent = (value: string) => judge({ verify, headers: { "stripe-signature": value } });

  test("may give several signatures, and others of schemes that nobody asked for", async () => {
    expect(await sent(`t=${AT},v1=${"0".repeat(64)},v1=${v1}`)).toEqual(good);
    expect(await sent(`t=${AT}, v0=abc, v1=${v1}`)).toEqual(good);
    expect(await sent(`t=${AT},v0=${v1}`)).toEqual(bad);
    expect(await sent(`t=${AT},v2=${v1}`)).toEqual(bad);
    expect(await sent(`t=${AT}`)).toEqual(bad);
  });

  test("says one time: none or a second one is refused", async () => {
    expect(await sent(`v1=${v1}`)).toEqual(untimely);
    expect(await sent(`t=${AT},t=${AT + 1},v1=${v1}`)).toEqual(bad);
    expect(await sent(`t=${AT + 1},t=${AT},v1=${v1}`)).toEqual(bad);
    expect(await sent(`t=${AT},v1=${v1}, t=${AT},v1=${v1}`)).toEqual(good);
  });

  test("tells the id of an event in its payload", async () => {
    const { deliveryId } = createVerifier({ id: "m", verify });
    expect(deliveryId({ headers: {}, payload: { id: "evt_1" } })).toBe("evt_1");
    for (const payload of [{}, { id: 7 }, { id: " " }, [], null, "evt", Object.create({ id: "inherited" })]) {
      expect(deliveryId({ headers: {}, payload })).toBeUndefined();
    }
  });

  test("is judged by at most sixteen signatures", async () => {
    const wrong = `v1=${"0".repeat(64)},`;
    expect(await sent(`t=${AT},${wrong.repeat(15)}v1=${v1}`)).toEqual(good);
    expect(await sent(`t=${AT},${wrong.repeat(16)}v1=${v1}`)).toEqual(bad);
  });
});

describe("Slack", () => {
  const verify: VerifyConfig = { provider: "slack", secret: "slack-secret", mode: "instead" };
  const { answer, deliveryId, mode } = createVerifier({ id: "m", verify });

  test("is refused with a version that is not v0", async () => {
    const headers = { "x-slack-signature": `v1=${hmac("slack-secret", `v0:${AT}:${BODY}`)}`, "x-slack-request-timestamp": String(AT) };
    expect(await judge({ verify, headers })).toEqual(bad);
  });

  test("gets its challenge back when it asks whether the address is meant", async () => {
    expect(answer({ headers: {}, payload: { type: "url_verification", challenge: "c-1" } })).toEqual({ status: 200, body: "c-1" });
    expect(answer({ headers: {}, payload: { type: "url_verification", challenge: { a: 1 } } })).toEqual({ status: 200, body: "" });
    expect(answer({ headers: {}, payload: { type: "event_callback", challenge: "c-1" } })).toBeUndefined();
    expect(answer({ headers: {}, payload: null })).toBeUndefined();
  });

  test("tells the id of an event in its payload, and may stand instead of the token", async () => {
    expect(deliveryId({ headers: {}, payload: { event_id: "Ev1" } })).toBe("Ev1");
    expect(mode).toBe("instead");
  });
});

describe("Standard Webhooks", () => {
  const key = Buffer.from("0123456789abcdef01234567");
  const signed = `msg_1.${AT}.${BODY}`;
  const v1 = `v1,${hmac(key, signed, "base64")}`;
  const sent = (values: { id?: string; time?: string; signature: string }, verify: Partial<VerifyConfig> = {}, family = "webhook") =>
    judge({
      verify: { provider: "standard-webhooks", secret: standardSecret, ...verify },
      headers: {
        [`${family}-id`]: values.id ?? "msg_1",
        [`${family}-timestamp`]: values.time ?? String(AT),
        [`${family}-signature`]: values.signature,
      },
    });

  test("may use the older names of its headers, but no mixture of both", async () => {
    expect(await sent({ signature: v1 }, {}, "svix")).toEqual(good);
    const verify: VerifyConfig = { provider: "standard-webhooks", secret: standardSecret };
    const headers = { "svix-id": "msg_1", "webhook-timestamp": String(AT), "webhook-signature": v1 };
    expect(await judge({ verify, headers })).toEqual(missing);
    const { deliveryId } = createVerifier({ id: "m", verify });
    expect(deliveryId({ headers: { "svix-id": "msg_2", "svix-signature": v1 }, payload: {} })).toBe("msg_2");
    expect(deliveryId({ headers: { "webhook-id": "msg_3", "webhook-signature": v1 }, payload: {} })).toBe("msg_3");
  });

  test("may give several signatures in one header", async () => {
    expect(await sent({ signature: `v1,${"A".repeat(43)}= ${v1}` })).toEqual(good);
    expect(await sent({ signature: `v2,abc ${v1}` })).toEqual(good);
    expect(await sent({ signature: v1.replace("v1,", "v2,") })).toEqual(bad);
    expect(await sent({ signature: v1.replace("v1,", "") })).toEqual(bad);
  });

  test("signs id and time as well", async () => {
    expect(await sent({ id: "msg_2", signature: v1 })).toEqual(bad);
    expect(await sent({ time: String(AT + 1), signature: v1 })).toEqual(bad);
  });

  test("takes a secret without its prefix, and none that is not base64", async () => {
    expect(await sent({ signature: v1 }, { secret: standardSecret.slice(6) })).toEqual(good);
    expect(await sent({ signature: v1 }, { secret: "whsec_!!" })).toEqual(bad);
  });

  test("may sign with an Ed25519 key, whose public half is configured", async () => {
    const pair = generateKeyPairSync("ed25519");
    const raw = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const signature = `v1a,${sign(null, Buffer.from(signed), pair.privateKey).toString("base64")}`;
    const verify = { secret: `whpk_${raw.toString("base64")}` };
    expect(await sent({ signature }, verify)).toEqual(good);
    expect(await sent({ signature: `${v1} ${signature}` }, verify)).toEqual(good);
    expect(await sent({ id: "msg_2", signature }, verify)).toEqual(bad);
    expect(await sent({ signature: v1 }, verify)).toEqual(bad);
    expect(await sent({ signature: signature.replace("v1a", "v1") }, verify)).toEqual(bad);
    // The public half is no secret: it must not serve as the key of the other kind.
    expect(await sent({ signature: `v1,${hmac(raw, signed, "base64")}` }, verify)).toEqual(bad);
  });
});

describe("another sender", () => {
  const sent = (verify: Partial<VerifyConfig>, headers: Record<string, string>) =>
    judge({ verify: { provider: "hmac", secret: "own", header: "X-Sign", ...verify }, headers });

  test("may sign the body alone, in hex or base64, with a prefix or without", async () => {
    expect(await sent({}, { "x-sign": hmac("own", BODY) })).toEqual(good);
    expect(await sent({ encoding: "base64" }, { "x-sign": hmac("own", BODY, "base64") })).toEqual(good);
    expect(await sent({ prefix: "sha256=" }, { "x-sign": `sha256=${hmac("own", BODY)}` })).toEqual(good);
    expect(await sent({ prefix: "sha256=" }, { "x-sign": hmac("own", BODY) })).toEqual(bad);
    expect(await sent({ encoding: "base64" }, { "x-sign": hmac("own", BODY) })).toEqual(bad);
  });

  test("may list several signatures, also behind a prefix that has a comma itself", async () => {
    expect(await sent({ prefix: "a=" }, { "x-sign": `a=${"0".repeat(64)}, a=${hmac("own", BODY)}` })).toEqual(good);
    expect(await sent({ prefix: "t,v=" }, { "x-sign": `t,v=${hmac("own", BODY)}` })).toEqual(good);
  });

  test("names the header of its delivery id", async () => {
    const verify: VerifyConfig = { provider: "hmac", secret: "own", header: "X-Sign", idHeader: "X-Id" };
    const verifier = createVerifier({ id: "m", verify });
    expect(verifier.deliveryId({ headers: { "x-id": "7" }, payload: { id: "8" } })).toBe("7");
    expect(verifier.secretHeaders).toEqual(["x-sign"]);
    expect(
      createVerifier({ id: "m", verify: { ...verify, idHeader: undefined } as never }).deliveryId({
        headers: { "x-id": "7" },
        payload: {},
      }),
    ).toBeUndefined();
  });
});

test("a header that is only inherited is none", async () => {
  const headers = Object.create({ "x-hub-signature-256": (vectors.github as Vector).headers["x-hub-signature-256"] }) as Record<
    string,
    string
  >;
  expect(await judge({ verify: { provider: "github", secret: "gh-secret" }, headers })).toEqual(missing);
});

describe("a secret that opens nothing is told of, without its text", () => {
  test.each<[string, VerifyConfig, string[]]>([
    ["a good one", { provider: "github", secret: "gh-secret" }, []],
    ["none", { provider: "github" }, ["verify: there is no secret, so nothing is let in; set verify.secret"]],
    ["a blank one", { provider: "slack", secrets: ["new", " "] }, ["verify: secret 2 opens nothing; expected a text that is not blank"]],
    [
      "one that is no base64",
      { provider: "standard-webhooks", secrets: ["whsec_?", "whpk_c2hvcnQ="] },
      [1, 2].map((n) => `verify: secret ${n} opens nothing; expected base64 behind whsec_, or 32 bytes of it behind whpk_`),
    ],
  ])("%s", async (_name, verify, problems) => {
    expect(secretProblems(verify)).toEqual(problems);
  });
});

test("a large body is judged in slices: others have their turn in between", async () => {
  const large = "a".repeat(5 * 1_048_576);
  const headers = { "x-hub-signature-256": `sha256=${hmac("gh-secret", large)}` };
  const turns = await turnsDuring(async () =>
    expect(await judge({ verify: { provider: "github", secret: "gh-secret" }, headers }, large)).toEqual(good),
  );
  expect(turns).toBeGreaterThanOrEqual(2);
  expect(await judge({ verify: { provider: "github", secret: "gh-secret" }, headers }, `${large} `)).toEqual(bad);
});
