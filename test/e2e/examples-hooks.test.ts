import { cpSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sign } from "@octokit/webhooks-methods";
import Stripe from "stripe";
import { createClient, type SvcClient } from "svc/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { watchClient } from "../../sdk/testing/wire-check.ts";
import { freshHome, root, stopAll, stopLater } from "./_cli.ts";
import { gatewayHere, type RunningHere } from "./_gateway-here.ts";

const examples = join(root, "examples");
const env = {
  SVC_GATEWAY_TOKEN: "gateway-token-of-the-examples",
  HOOK_TOKEN: "hook-token-of-the-examples-7c1e",
  GITHUB_WEBHOOK_SECRET: "github-secret-of-the-examples",
  STRIPE_WEBHOOK_SECRET: "whsec_of_the_examples",
};
const bearer = { authorization: `Bearer ${env.HOOK_TOKEN}` };

let gateway: RunningHere;
let client: SvcClient;

/** A gateway on a copy of the folder: it keeps files of its own beside its config. */
async function runExample(name: string): Promise<void> {
  const home = await freshHome();
  cpSync(join(examples, name), home.stateDir, { recursive: true });
  gateway = await gatewayHere(home, [], env);
  const own = watchClient(
    createClient({
      url: gateway.url.replace("http", "ws"),
      auth: { token: env.SVC_GATEWAY_TOKEN },
      client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
      scopes: ["operator.read", "operator.write"],
    }),
  );
  stopLater(() => own.close());
  await own.connect();
  client = own;
}
afterAll(stopAll);

async function post(path: string, body: object, headers: Record<string, string>) {
  const response = await fetch(`${gateway.url}/hooks/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  const isReplay = response.headers.get("idempotent-replay") === "true";
  return { status: response.status, isReplay, body: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : text };
}
const taken = { status: 200, isReplay: false, body: { ok: true, runId: expect.any(String) } };
const refused = { status: 401, isReplay: false, body: "Unauthorized" };

interface Session {
  key: string;
  task: string;
  answer: string;
}

/** The sessions that hooks have opened, once each was answered. */
const sessions = (count: number): Promise<Session[]> =>
  eventually(async () => {
    const { sessions: rows } = (await client.request("sessions.list", {})) as { sessions: Array<{ key: string }> };
    const keys = rows.map(({ key }) => key).filter((key) => key.startsWith("agent:main:hook:"));
    expect(keys).toHaveLength(count);
    return Promise.all(
      keys.sort().map(async (key) => {
        const { messages } = (await client.request("chat.history", { sessionKey: key })) as {
          messages: Array<{ role: string; content: Array<{ type: string; text?: string }> }>;
        };
        const said = (role: string) =>
          messages
            .filter((message) => message.role === role)
            .flatMap(({ content }) => content.flatMap(({ text }) => text ?? []))
            .join("\n");
        expect(said("assistant")).toContain("No language model is configured");
        return { key, task: said("user"), answer: said("assistant") };
      }),
    );
  }, 30_000);

describe("the GitHub example", () => {
  const pull = {
    action: "opened",
    pull_request: { title: "Faster tiles", html_url: "https://example.org/maps/pull/7", body: "Tiles are drawn once." },
    repository: { full_name: "studio/maps" },
  };
  const deliver = async (event: string, body: object, id: string) =>
    post("github", body, {
      "x-github-event": event,
      "x-github-delivery": id,
      "x-hub-signature-256": await sign(env.GITHUB_WEBHOOK_SECRET, JSON.stringify(body)),
    });

  beforeAll(() => runExample("hook-github"));

  test("makes a task of a pull request, in the session of its repository", async () => {
    const first = await deliver("pull_request", pull, "d-1");

    expect(first).toEqual(taken);
    expect(await sessions(1)).toMatchObject([
      {
        key: "agent:main:hook:github:studio/maps",
        task: expect.stringMatching(/^A pull request was opened: Faster tiles \(https:.+\n+Say in three.+\n\nTiles are drawn once\.$/),
      },
    ]);
    // A redelivery from GitHub is answered with the first run.
    expect(await deliver("pull_request", pull, "d-1")).toEqual({ ...first, isReplay: true });
  });

  test("skips its ping, what nobody wants, and events that are none of its own", async () => {
    const skipped = { status: 204, isReplay: false, body: "" };
    expect(await deliver("ping", { zen: "Keep it logically awesome." }, "d-2")).toEqual(skipped);
    expect(await deliver("pull_request", { ...pull, action: "closed" }, "d-3")).toEqual(skipped);
    expect(await deliver("toString", pull, "d-4")).toEqual(skipped);
  });

  test("takes nobody's word but GitHub's: no signature, another body, the token alone", async () => {
    expect(await post("github", pull, { "x-github-event": "pull_request" })).toEqual(refused);
    expect(await post("github", pull, { ...bearer, "x-github-event": "pull_request" })).toEqual(refused);
    const signature = await sign(env.GITHUB_WEBHOOK_SECRET, JSON.stringify(pull));
    expect(await post("github", { ...pull, action: "Opened" }, { "x-hub-signature-256": signature })).toEqual(refused);
  });
});

describe("the mail example", () => {
  beforeAll(() => runExample("hook-mail"));

  test("runs once for each mail of a push, each in a session of its own", async () => {
    const mails = [
      { id: "m1", from: "Ada <ada@example.org>", subject: "Boiler", snippet: "It leaks", body: "It leaks again." },
      { id: "m2", from: "Bob <bob@example.org>", subject: "Lunch", snippet: "Friday?", body: "Friday at noon?" },
    ];
    const first = await post("gmail", { messages: mails }, { ...bearer, "idempotency-key": "push-1" });

    expect(first).toMatchObject({ status: 200, body: { ok: true, dispatched: 2, runIds: { length: 2 } } });
    expect(await sessions(2)).toMatchObject([
      { key: "agent:main:hook:gmail:m1", task: "New email from Ada <ada@example.org>\nSubject: Boiler\nIt leaks\nIt leaks again." },
      { key: "agent:main:hook:gmail:m2", task: "New email from Bob <bob@example.org>\nSubject: Lunch\nFriday?\nFriday at noon?" },
    ]);
    expect(await post("gmail", { messages: mails }, { ...bearer, "idempotency-key": "push-1" })).toEqual({ ...first, isReplay: true });
    expect(await post("gmail", { messages: mails }, {})).toEqual(refused);
  });
});

describe("the Stripe example", () => {
  const charge = { id: "ch_1", object: "charge", amount: 4200, currency: "eur", customer: "cus_9", status: "failed" };
  const event = { id: "evt_1", object: "event", type: "charge.failed", data: { object: charge } };
  const signed = (body: object, timestamp = Math.floor(Date.now() / 1_000)) => ({
    "stripe-signature": new Stripe("sk_test_none").webhooks.generateTestHeaderString({
      payload: JSON.stringify(body),
      secret: env.STRIPE_WEBHOOK_SECRET,
      timestamp,
    }),
  });

  beforeAll(() => runExample("hook-stripe"));

  test("makes a task of an event, in the session of its customer, once", async () => {
    const first = await post("stripe", event, signed(event));

    expect(first).toEqual(taken);
    expect(await sessions(1)).toMatchObject([
      {
        key: "agent:main:hook:stripe:cus_9",
        task: expect.stringMatching(/^charge\.failed: charge ch_1 over 4200 eur \(.+\), customer cus_9, status failed\. Say /),
      },
    ]);
    expect(await post("stripe", event, signed(event))).toEqual({ ...first, isReplay: true });
  });

  test("refuses what is stale, changed, or has the token alone", async () => {
    expect(await post("stripe", event, signed(event, Math.floor(Date.now() / 1_000) - 400))).toEqual(refused);
    expect(await post("stripe", { ...event, id: "evt_2" }, signed(event))).toEqual(refused);
    expect(await post("stripe", event, bearer)).toEqual(refused);
  });
});

describe("the example of a typed transform", () => {
  beforeAll(() => runExample("transform-ts"));

  test("makes a task of a failed build, in the session of its project, and skips those that passed", async () => {
    const notice = { project: "tidemark", branch: "main", status: "failed", jobs: [{ name: "unit", status: "failed" }] };

    expect(await post("ci", notice, bearer)).toEqual(taken);
    expect(await sessions(1)).toMatchObject([
      { key: "agent:main:hook:ci:tidemark", task: expect.stringMatching(/^The build of tidemark failed on main in unit\./) },
    ]);
    expect(await post("ci", { ...notice, status: "passed" }, bearer)).toMatchObject({ status: 204 });
    expect(await post("ci", { status: "odd" }, bearer)).toEqual({
      status: 500,
      isReplay: false,
      body: { ok: false, error: "hook mapping failed" },
    });
    await eventually(() => expect(gateway.out.stdout + gateway.out.stderr).toMatch(/expected a build notice .+ci-failure\.ts:\d+:\d+/));
  });
});

test("every example of a webhook is named in the README of the folder", () => {
  const readme = readFileSync(join(examples, "README.md"), "utf8");
  const folders = readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("svc.json"))
    .map(dirname);

  expect(folders.sort()).toEqual(["hook-github", "hook-mail", "hook-stripe", "transform-ts"]);
  for (const folder of folders) expect(readme).toContain(`| \`${folder}/\` |`);
});
