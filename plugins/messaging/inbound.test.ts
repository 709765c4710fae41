import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ChannelRun, Store } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTalkPlatform, echoModel } from "../../test/fixtures/talk-platform.ts";

/** Attachments of people on a platform that stands in the test, with a whole gateway and a model behind it. */

const platform = createTalkPlatform();
const model = echoModel();
let gw: TestGateway;
let store: Store;

const base = {
  agents: { defaults: { skipBootstrap: true } },
  channels: { talk: { token: "good", allowFrom: ["@ada", "@bob"], groups: { "#kitchen": {} } } },
  session: { dmScope: "per-channel-peer" as const },
};

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store", "agents", "messaging", platform.plugin], models: [model], config: base });
  store = gw.service("store@2");
  await eventually(() => platform.running.has("default"));
}, 120_000);
afterAll(() => gw.close());
beforeEach(() => {
  platform.sent.length = 0;
  model.asked.length = 0;
  model.pictures.length = 0;
});

const run = () => platform.running.get("default") as ChannelRun;
const files = () => readdir(join(gw.service("gateway@1").info().stateDir, "plugin-data", "messaging", "media")).catch(() => []);
const idle = () =>
  eventually(async () => (await store.deliveries.list({ dirs: ["in"], states: ["accepted", "running"], limit: 10 })).length === 0);

/** The header of a picture of this size. */
function picture(width: number, height: number): Buffer {
  const bytes = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), Buffer.alloc(17)]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

describe("an attachment", () => {
  test("that is a picture reaches a model that takes one; every other is named; no file is left", async () => {
    const cat = picture(20, 10);
    const photo = await run().saveMedia(cat, { mime: "application/octet-stream", name: "cat.png" });
    const bomb = await run().saveMedia(picture(60_000, 60_000), { mime: "image/png" });
    const script = await run().saveMedia(Buffer.from("<script>"), { mime: "image/png" });
    expect([photo.mime, bomb.mime, script.mime]).toEqual(["image/png", "image/png", "text/plain"]);

    const media = [
      { kind: "image", ...photo, mime: "text/html", name: "C:\\pictures\\cat\u202egnp.png\n" },
      { kind: "image", ...bomb },
      { kind: "image", ...script, name: "../../x.png" },
      { kind: "file", mime: "text/plain", path: "/etc/passwd" },
    ];
    expect(await platform.say("look", { media })).toEqual({ status: "accepted" });
    await eventually(() => platform.sent.length === 1);
    expect(model.pictures).toEqual([cat.toString("base64")]);
    expect(model.asked[0]).toContain(
      [
        "look",
        "[attachment: image, image/png, catgnp.png, 33 bytes]",
        "[attachment: image, image/png, 33 bytes]",
        "[attachment: image, text/plain, x.png, 8 bytes, not shown to you]",
        "[attachment: file, text/plain, not shown to you]",
      ].join("\n"),
    );
    await idle();
    await eventually(async () => expect(await files()).toEqual([]) ?? true);
  });

  test("of a message that is not taken on is gone when the channel is told so", async () => {
    const save = () => run().saveMedia(picture(20, 10), { mime: "image/png" });
    const id = "seen";
    await platform.say("first", { id });
    const known = await save();
    expect(await platform.say("first", { id, media: [{ kind: "image", ...known }] })).toEqual({ status: "duplicate" });
    const strangers = await save();
    const from = { sender: { id: "@eve" }, peer: { id: "@eve" } };
    expect(await platform.say("hi", { ...from, media: [{ kind: "image", ...strangers }] })).toMatchObject({ status: "dropped" });
    await idle();
    await eventually(async () => expect(await files()).toEqual([]) ?? true);
    expect(model.pictures).toEqual([]);
  });

  test("that a channel saves and never names goes with its account", async () => {
    await run().saveMedia(picture(20, 10), { mime: "image/png" });
    expect(await files()).toHaveLength(1);
    await gw.reload({ ...base, channels: { talk: { ...base.channels.talk, name: "other" } } } as never);
    await eventually(async () => expect(await files()).toEqual([]) ?? true);
    await gw.reload(base);
    await eventually(() => platform.running.has("default"));
  });
});
