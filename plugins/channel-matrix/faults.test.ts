import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, vendorIn } from "svc/sdk/testing";
import { expect } from "vitest";
import { type FakeMatrix, startFakeMatrix } from "../../test/fakes/matrix.ts";
import { ADA, attempt, BOT, drive, ends, group, matrix, received, say, sent, texts, useMatrix } from "../../test/fixtures/matrix-stage.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { needsPackages } from "../../test/servers/vendored.ts";
import { loadLibrary } from "./library.ts";

const { describe, test } = await needsPackages("channel-matrix");

useMatrix();

describe("messages from Matrix", () => {
  test("before the first contact are not answered; later ones are, once, also those that came while nobody was there", async () => {
    const kv = memoryKv();
    say("old");
    const first = drive({ kv });
    await first.is("ready");
    say("one");
    await received(first, "one");
    await first.stop();
    say("two");
    const second = drive({ kv });
    await received(second, "two");
    expect([texts(first), texts(second)]).toEqual([["one"], ["two"]]);
  });

  test("are behind the stored place only when the host has them: what a killed process has not stored comes again", async () => {
    const kv = memoryKv();
    const killed = drive({ kv });
    await killed.is("ready");
    killed.run.receive = () => new Promise(() => undefined);
    say("in its hands");
    const later = say("behind it");
    await eventually(() => matrix.open() === 0);
    await killed.stop();

    const next = drive({ kv });
    await received(next, "behind it");

    expect(texts(next)).toEqual(["in its hands", "behind it"]);
    expect(next.inbox[1]?.id).toBe(later);
  });

  test("are offered again to a host that cannot store them, and to a store that cannot keep the place", async () => {
    const kv = memoryKv();
    const { set } = kv;
    const account = drive({ kv });
    await account.is("ready");
    let refusals = 2;
    account.run.receive = async (event) => {
      if (refusals-- > 0) throw new Error("no storage");
      account.inbox.push(event);
      return { status: "accepted" };
    };
    let failures = 2;
    kv.set = async (key, value) => {
      if (failures-- > 0) throw new Error("no storage");
      return set(key, value);
    };
    say("keep this");
    await received(account, "keep this");
    await eventually(() => matrix.confirmed(BOT.id) === matrix.rooms.now);
    expect([refusals < 0, failures < 0, texts(account)]).toEqual([true, true, ["keep this"]]);
  });

  test("that are missing in a timeline are fetched, in order, up to a bound", async () => {
    const kv = memoryKv();
    const first = drive({ kv });
    await first.is("ready");
    await first.stop();
    for (let n = 0; n < 180; n += 1) say(`${n}`);
    const account = drive({ kv });
    await received(account, "179");
    expect(texts(account)).toEqual(Array.from({ length: 180 }, (_, n) => String(n)));
    await account.stop();

    for (let n = 0; n < 1_200; n += 1) say(`more ${n}`);
    const late = drive({ kv });
    await received(late, "more 1199");
    expect(late.inbox.length).toBe(1_050);
    expect(late.logs.join()).toMatch(/more than 1000 events came in a room/);
  });

  test("whose past is closed, or whose place is not known any more, do not hold up others", async () => {
    const kv = memoryKv();
    const first = drive({ kv });
    await first.is("ready");
    await first.stop();
    for (let n = 0; n < 60; n += 1) say(`${n}`);
    matrix.script("messages", { status: 403, body: { errcode: "M_FORBIDDEN", error: "no history" } });
    const account = drive({ kv });
    await received(account, "59");
    expect(account.inbox[0]?.text).toBe("10");
    expect(account.logs.join()).toMatch(/cannot be fetched: the homeserver says: no history/);
    const told = account.states.length;
    matrix.script("sync", { status: 400, body: { errcode: "M_UNKNOWN", error: "Invalid stream token" } });
    say("wakes it");
    await eventually(() => account.states.slice(told).some(({ lifecycle }) => lifecycle === "recovering"));
    await account.is("ready");
    say("from now on");
    await received(account, "from now on");
    expect(account.logs.join()).toMatch(/begins anew from now on/);
  });

  test("come, too, when all together are longer than an answer that is read", async () => {
    const account = drive();
    await account.is("ready");
    for (const text of ["one", "two"]) say(text, { padding: "x".repeat(9 << 20) });
    await received(account, "two");
    expect(texts(account)).toEqual(["one", "two"]);
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("of a room whose past always fails are passed over, and do not hold up others", async () => {
    const kv = memoryKv();
    const first = drive({ kv });
    await first.is("ready");
    await first.stop();
    for (let n = 0; n < 60; n += 1) say(`${n}`);
    const broken = { status: 500, body: { errcode: "M_UNKNOWN", error: "Internal server error" } };
    matrix.script("messages", ...Array.from({ length: 100 }, () => broken));
    const account = drive({ kv });
    await received(account, "59");
    expect(account.inbox[0]?.text).toBe("10");
    await account.stop();
    expect(account.logs.filter((line) => line.includes("cannot be fetched: the homeserver says: Internal"))).toHaveLength(1);
    expect(account.states.filter(({ lifecycle }) => lifecycle === "recovering").length).toBeGreaterThan(0);
  });

  test("say who is meant, what is answered, and in which thread; quotations of older clients are taken off", async () => {
    const account = drive();
    await account.is("ready");
    await account.send(group.id, "my words");
    const own = sent().at(-1)?.event_id as string;
    say("all of you");
    say("hello", { "m.mentions": { user_ids: [BOT.id] } });
    say("svc: hi", { formatted_body: `<a href="https://matrix.to/#/${BOT.id}">svc</a>: hi`, format: "org.matrix.custom.html" });
    say(`hey ${BOT.id}2`);
    say(`> <${BOT.id}> my words\n> and more\n\nI agree`, { "m.relates_to": { "m.in_reply_to": { event_id: own } } });
    const root = say("root");
    const thread = { rel_type: "m.thread", event_id: root, is_falling_back: true, "m.in_reply_to": { event_id: own } };
    say("in it", { "m.relates_to": thread });
    say("nobody knows", { "m.relates_to": { "m.in_reply_to": { event_id: "$gone" } } });
    await received(account, "nobody knows");

    expect(account.inbox).toMatchObject([
      { chatType: "group", peer: { id: group.id, name: "Kitchen" }, sender: { id: ADA, name: "Ada" }, mentions: { explicit: false } },
      { mentions: { explicit: true } },
      { text: "svc: hi", mentions: { explicit: true } },
      { mentions: { explicit: false } },
      { text: "I agree", replyTo: { id: own, text: "my words", isBot: true, senderId: BOT.id }, mentions: { implicit: ["replyToBot"] } },
      { text: "root" },
      { text: "in it", threadId: root.slice(1) },
      { replyTo: { id: "$gone" }, mentions: { implicit: [] } },
    ]);
    expect(account.inbox[6]?.replyTo).toBeUndefined();
    expect(account.state().self).toEqual({ id: BOT.id, name: "svc" });
  });

  test("of programs, edits, redacted and broken ones, and its own are passed over", async () => {
    const account = drive();
    await account.is("ready");
    const note = say("a notice", { msgtype: "m.notice" });
    say("* better", { "m.new_content": { msgtype: "m.text", body: "better" }, "m.relates_to": { rel_type: "m.replace", event_id: note } });
    const { add } = matrix.rooms;
    const put = (content: object, type = "m.room.message") =>
      add.call(matrix.rooms, group, { type, sender: ADA, content: content as Record<string, unknown> });
    put({});
    put({ msgtype: 5, body: {} });
    put({ msgtype: "m.text", body: ["x"], "m.relates_to": "none", "m.mentions": 3 });
    put({ msgtype: "m.text", body: "   " });
    put({ key: "👍" }, "m.reaction");
    say("my own", {}, group, BOT.id);
    say("readable", { "m.mentions": { user_ids: "all" }, "m.relates_to": { rel_type: "m.thread", event_id: 7 } });
    await received(account, "readable");
    expect(texts(account)).toEqual(["readable"]);
    expect(account.states.some(({ lifecycle }) => lifecycle === "recovering")).toBe(false);
  });

  test("with files of slow servers arrive without them", async () => {
    const account = drive({ times: { fileMs: 200 } });
    await account.is("ready");
    matrix.script("download", "stall", "stall");
    for (const name of ["one", "two"]) say(name, { msgtype: "m.file", filename: "f", url: "mxc://fake.test/f" });
    await received(account, "two");
    expect(account.inbox.map(({ media }) => media?.[0]?.path)).toEqual([undefined, undefined]);
  });

  test("with files are fetched for a message that is admitted only, and once for a host that is full for a while", async () => {
    matrix.files.set("fake.test/f", { content: Buffer.from("content"), mime: "text/plain" });
    const account = drive();
    await account.is("ready");
    account.admits = ({ text }) => text !== "of a stranger";
    let offset = 0;
    Object.assign(account.run.clock, { monotonic: () => performance.now() + offset });
    let refusals = 2;
    account.run.receive = async (event) => {
      if (event.text === "full" && refusals-- > 0) {
        offset += 60_000;
        throw new Error("full");
      }
      account.inbox.push(event);
      return { status: "accepted" };
    };
    for (const text of ["full", "of a stranger"]) say(text, { msgtype: "m.file", filename: "f", url: "mxc://fake.test/f" });
    await received(account, "of a stranger");
    const paths = account.inbox.map(({ media }) => typeof media?.[0]?.path);
    expect([paths, account.media.length]).toEqual([["string", "undefined"], 1]);
  });

  test("with files bring them; too large, encrypted and lost ones are only named", async () => {
    const picture = Buffer.from("\x89PNG\r\n\x1a\n picture", "latin1");
    matrix.files.set("fake.test/pic", { content: picture, mime: "image/png" });
    matrix.files.set("fake.test/lie", { content: Buffer.alloc(4_000), mime: "application/zip" });
    const account = drive({ section: { maxFileBytes: 2_000 } });
    await account.is("ready");
    const file = (more: object) =>
      say("caption", { msgtype: "m.image", filename: "p.png", info: { mimetype: "image/png", size: 16 }, ...more });
    file({ url: "mxc://fake.test/pic" });
    matrix.isOld = true;
    file({ url: "mxc://fake.test/pic" });
    file({ url: "mxc://fake.test/pic", info: { size: 50_000 } });
    file({ url: "mxc://fake.test/lie" });
    file({ file: { url: "mxc://fake.test/pic" } });
    file({ url: "mxc://fake.test/../../../_matrix/client/v3/account" });
    file({ url: "mxc://../config" });
    await eventually(() => account.inbox.length === 7);

    const files = account.inbox.map(({ media }) => media?.[0]);
    for (const saved of files.slice(0, 2)) expect(await readFile(saved?.path as string)).toEqual(picture);
    expect(files.slice(2).map((one) => one?.path)).toEqual(Array.from({ length: 5 }, () => undefined));
    const told = account.logs.join("\n");
    for (const reason of [/50000 bytes; maxFileBytes allows 2000/, /longer than 2000 bytes/, /it is encrypted/, /no address/])
      expect(told).toMatch(reason);
    expect(told.match(/no address/g)).toHaveLength(2);
  });
});

describe("messages to Matrix", () => {
  test("are HTML beside the plain text, with everything escaped, and plain where both do not fit", async () => {
    const account = drive();
    await account.is("ready");
    const text = '🙂 <b>&"bold"\nlink evil code';
    const spans = [
      { kind: "bold", start: 3, end: 13 },
      { kind: "link", start: 14, end: 18, href: 'https://example.net/?a="b"&c' },
      { kind: "link", start: 19, end: 23, href: "javascript:alert(1)" },
      { kind: "codeBlock", start: 24, end: 28, language: "ts" },
    ];
    const { render } = account.channel.text;
    const send = (rendered: ReturnType<typeof render>, uid: string) =>
      account.channel.send({ uid, to: group.id, text: rendered }, account.run);
    await send(render({ text, spans: spans as never }), "a");
    const long = "<&".repeat(8_000);
    await send(render({ text: long, spans: [{ kind: "bold", start: 0, end: 2 }] }), "b");

    expect(sent().map(({ content }) => content)).toEqual([
      {
        msgtype: "m.text",
        "m.mentions": {},
        body: '🙂 <b>&"bold"\nlink (https://example.net/?a="b"&c) evil code',
        format: "org.matrix.custom.html",
        formatted_body:
          '🙂 <strong>&lt;b&gt;&amp;&quot;bold&quot;</strong><br><a href="https://example.net/?a=&quot;b&quot;&amp;c">link</a> evil <pre><code class="language-ts">code</code></pre>',
      },
      { msgtype: "m.text", "m.mentions": {}, body: long },
    ]);
  });

  test("carry files, below the text or alone, and arrive once however often they are sent", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-matrix-"));
    ends.push(() => rm(folder, { recursive: true }));
    const media = [
      { mime: "image/png", path: join(folder, "a.png"), name: "a.png" },
      { mime: "text/plain", path: join(folder, "b.txt") },
    ];
    for (const { path } of media) await writeFile(path, `content of ${path}`);
    const account = drive();
    await account.is("ready");
    const tooLarge = { status: 413, body: { errcode: "M_TOO_LARGE", error: "too large" } };
    matrix.script("upload", tooLarge);
    const send = () => account.channel.send({ uid: "row-1", to: group.id, media, text: { text: "look" } }, account.run);
    await expect(send()).rejects.toMatchObject({ name: "SendRefusedError" });
    expect(sent()).toEqual([]);
    matrix.script("send", "taken, then cut");
    await expect(send()).rejects.toMatchObject({ name: "Error" });
    const { messageId } = await send();
    await send();

    expect(sent().map(({ content }) => [content.msgtype, content.body])).toEqual([
      ["m.text", "look"],
      ["m.image", "a.png"],
      ["m.file", "b.txt"],
    ]);
    expect(messageId).toBe(sent()[0]?.event_id);
    const [, , id = ""] = /^mxc:\/\/([^/]+)\/(.+)$/.exec(String(sent()[1]?.content.url)) ?? [];
    expect(matrix.files.get(`fake.test/${id}`)).toEqual({ content: Buffer.from(`content of ${media[0]?.path}`), mime: "image/png" });
  });

  test("wait as long as the homeserver asks, fail for ever where it forbids, and are not known after a cut", async () => {
    const account = drive();
    await account.is("ready");
    const outcome = async (...answers: Parameters<FakeMatrix["script"]> extends [string, ...infer A] ? A : never) => {
      matrix.script("send", ...answers);
      return attempt(account);
    };
    const limited = { errcode: "M_LIMIT_EXCEEDED", error: "Too many requests", retry_after_ms: 7_000 };
    expect(await outcome({ status: 429, body: limited })).toMatchObject({
      name: "SendRefusedError",
      isPermanent: false,
      retryAfterMs: 7_000,
    });
    expect(await outcome({ status: 429, body: { ...limited, retry_after_ms: "soon" }, headers: { "retry-after": "3" } })).toMatchObject({
      retryAfterMs: 3_000,
    });
    expect(await outcome({ status: 413, body: { errcode: "M_TOO_LARGE", error: "too large" } })).toMatchObject({ isPermanent: true });
    expect(await outcome({ status: 502, text: "<html>bad gateway</html>" })).toMatchObject({
      name: "Error",
      message: expect.stringMatching(/not from a Matrix homeserver/),
    });
    expect(await outcome("cut")).toMatchObject({ name: "Error", message: expect.stringMatching(/the call failed/) });
    for (const to of ["!elsewhere:fake.test", "#no:fake.test", "nonsense"])
      expect(await attempt(account, to)).toMatchObject({ isPermanent: true });
    matrix.rooms.add(group, { type: "m.room.power_levels", sender: ADA, state_key: "", content: { events_default: 50 } });
    expect(await attempt(account)).toMatchObject({ isPermanent: true, message: expect.stringMatching(/M_FORBIDDEN/) });
  });

  test("wait while the homeserver is away", async () => {
    const gone = await startFakeMatrix({ users: [] });
    await gone.close();
    const account = drive({ section: { homeserver: gone.url }, times: { reconnectMs: 60_000 } });
    expect((await account.is("recovering")).lastError).toMatch(/cannot be reached: ECONNREFUSED/);
    expect(await attempt(account)).toMatchObject({ name: "NotDispatchedError" });
  });
});

describe("a session", () => {
  test("that is over blocks the account, and shows no token", async () => {
    const account = drive();
    await account.is("ready");
    matrix.logOut(BOT.id);
    expect((await account.is("blocked")).lastError).toMatch(/access token is not known to the homeserver.*set a new one/);
    expect(JSON.stringify([account.states, account.logs])).not.toContain(BOT.token);
  });

  test("of a password is made again after a soft logout, for the same device; after a hard one it is not", async () => {
    const kv = memoryKv();
    const section = { accessToken: undefined, password: BOT.password };
    const account = drive({ kv, section });
    await account.is("ready");
    matrix.logOut(BOT.id, true);
    await account.is("recovering");
    await account.is("ready");
    say("still here");
    await received(account, "still here");
    await account.stop();
    const next = drive({ kv, section });
    await next.is("ready");
    expect(matrix.devices.get(BOT.id)?.size).toBe(1);

    matrix.logOut(BOT.id);
    expect((await next.is("blocked")).lastError).toMatch(/device removed/);
    const told = JSON.stringify([account.states, account.logs, next.states, next.logs, await kv.get("since")]);
    expect(told).not.toMatch(/syt_|a-long-password/);
  });

  test.each([
    ["a wrong password", { accessToken: undefined, password: "wrong" }, /refuses user or password/],
    ["somebody else's token", { userId: "@ada:fake.test" }, /the access token is of @svc:fake\.test, and userId says @ada:fake\.test/],
  ])("of %s is refused", async (_name, section, reason) => {
    expect((await drive({ section }).is("blocked")).lastError).toMatch(reason);
  });

  test("waits when it is asked to, and goes on after nonsense, a stall and a cut", async () => {
    matrix.script("versions", { status: 200, text: "<html>welcome</html>" }, "cut");
    const account = drive({ times: { pollMs: 100 } });
    await account.is("ready");
    expect(account.states.map(({ lastError }) => lastError).join()).toMatch(/not from a Matrix homeserver/);
    const told = account.states.length;
    matrix.script("sync", { status: 429, body: { errcode: "M_LIMIT_EXCEEDED", error: "wait", retry_after_ms: 10 } });
    say("after the wait");
    await received(account, "after the wait");
    expect(account.states.length).toBe(told);
    for (const answer of [
      "cut",
      { status: 200, body: { next_batch: 5 } },
      { status: 500, body: { errcode: 7, error: "x".repeat(5_000) } },
    ] as const) {
      const before = account.states.length;
      matrix.script("sync", answer);
      await eventually(() => account.states.slice(before).some(({ lifecycle }) => lifecycle === "recovering"));
      await account.is("ready");
      expect(String(account.states.at(-1)?.lastError).length).toBeLessThan(400);
    }
    say("all is well");
    await received(account, "all is well");
  });
});

test("the library writes nothing to the console, and loads neither its client nor its encryption", async () => {
  const { logger } = (await import(new URL("./logger.js", await vendorIn(import.meta.dirname).resolve("matrix-js-sdk")).href)) as {
    logger: { methodFactory: unknown };
  };
  expect(logger).toBeDefined();
  await loadLibrary(vendorIn(import.meta.dirname));
  expect((globalThis as { __js_sdk_entrypoint?: boolean }).__js_sdk_entrypoint).toBeUndefined();
});
