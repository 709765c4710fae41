import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { findPortHolders, listeningInodes, parseLsof } from "./port-holders.ts";

it("finds this very process on a port it listens on, and nobody once it stopped", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await findPortHolders(port)).toEqual([{ pid: process.pid, command: expect.any(String), uid: process.getuid?.() }]);
  server.close();
  await once(server, "close");
  expect(await findPortHolders(port)).toEqual([]);
});

it("reads only listening rows of the port from /proc/net/tcp", () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4965 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0
   1: 0100007F:4965 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 20 4 30 10 -1
   2: 0100007F:4966 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 100 0 0 10 0
`;
  expect(listeningInodes(table, 18789)).toEqual(["111"]);
  expect(listeningInodes("", 18789)).toEqual([]);
});

it("reads the field output of lsof", () => {
  expect(parseLsof("p12\ncnode\nu501\nf21\np13\ncssh\nu0\n")).toEqual([
    { pid: 12, command: "node", uid: 501 },
    { pid: 13, command: "ssh", uid: 0 },
  ]);
  expect(parseLsof("")).toEqual([]);
});
