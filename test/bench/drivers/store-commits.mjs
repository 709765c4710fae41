/** `node store-commits.mjs <database> <callers> <total>`: messages into the product's store, as many callers at once. */
import { measureCommits } from "../lib/commits.mjs";
import { importPart } from "../lib/part.mjs";

const [path, callers, total] = process.argv.slice(2);
const { openStore } = await importPart("plugins/store/open-store.ts");
const quiet = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error, child: () => quiet };
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const store = await openStore({ path, clock, logger: quiet });
const sessionId = "bench";

const result = await measureCommits(Number(callers), Number(total), (i) =>
  store.commit([
    {
      op: "message.append",
      message: {
        id: `m${i}`,
        sessionId,
        ts: clock.now(),
        role: "user",
        content: [{ type: "text", text: `message ${i} ${"x".repeat(200)}` }],
      },
    },
  ]),
);
if (store.messages.count(sessionId) !== Number(total))
  throw new Error(`${store.messages.count(sessionId)} of ${total} messages are in the store`);
await store.close();
console.log(JSON.stringify(result));
