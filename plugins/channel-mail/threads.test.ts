import { expect, test } from "vitest";
import { createMemoryKv } from "./memory-kv.ts";
import { Threads } from "./threads.ts";

const mail = { messageId: "1@example.org", subject: "Hello", at: 1 };

function threadsIn(kv = createMemoryKv()) {
  const open = async () => {
    const threads = new Threads({ kv, mailbox: "m", logger: { warn: () => undefined } });
    await threads.open();
    return threads;
  };
  return { kv, open };
}

test("a proposed mail is found by answers, in a later process too, until the host does not take it", async () => {
  const { kv, open } = threadsIn();
  await (await open()).propose("1@example.org", mail);

  const later = await open();
  expect(later.get("1@example.org")).toMatchObject({ subject: "Hello", chain: ["1@example.org"] });
  expect(later.rootWith("1@example.org")).toBe("1@example.org");

  await later.reject();
  expect([later.get("1@example.org"), later.rootWith("1@example.org"), await kv.list()]).toEqual([undefined, undefined, []]);
});

test("an answer that left before the verdict stays behind its mail", async () => {
  const { open } = threadsIn();
  const threads = await open();
  await threads.propose("1@example.org", mail);
  await threads.add("1@example.org", { messageId: "answer@example.org", subject: "Re: Hello", at: 2 });
  await threads.accept();

  for (const known of [threads, await open()])
    expect(known.get("1@example.org")).toMatchObject({ subject: "Hello", chain: ["1@example.org", "answer@example.org"] });
});

test("a mail that nobody takes leaves its thread as it was", async () => {
  const { open } = threadsIn();
  const threads = await open();
  await threads.add("1@example.org", mail);
  await threads.propose("1@example.org", { messageId: "2@example.org", subject: "Other", at: 2 });
  await threads.reject();

  for (const known of [threads, await open()]) expect(known.get("1@example.org")).toMatchObject({ chain: ["1@example.org"], at: 1 });
});
