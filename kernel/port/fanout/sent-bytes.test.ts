import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { eventually } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { sentBytes } from "./sent-bytes.ts";

test("the figure grows bit by bit while one large write is under way, and stands while nobody reads", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const reader = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [writer] = (await once(server, "connection")) as [Socket];
  reader.pause();
  const size = 64_000_000;
  let isWritten = false;
  writer.write(Buffer.alloc(size), () => {
    isWritten = true;
  });

  const stuck = await eventually(() => {
    const now = sentBytes(writer);
    return now > 0 && now < size && now;
  });
  const chunk = once(reader, "data");
  reader.resume();
  await chunk;
  await eventually(() => sentBytes(writer) > stuck);
  await eventually(() => isWritten);
  expect(sentBytes(writer)).toBe(size);

  reader.destroy();
  writer.destroy();
  server.close();
  await once(server, "close");
  expect(sentBytes(writer)).toBe(0);
});
