import { describe, expect, test } from "vitest";
import type { Caller, RequestHead } from "../client-types.ts";
import { createTailnetIdentity, type TailnetOptions } from "./identity.ts";
import { uidIn } from "./peer-uid.ts";
import { loginOf } from "./whois.ts";

const address = "100.101.102.103";
const name = "ada@example.com";

interface Case {
  headers?: Record<string, string>;
  rawHeaders?: string[];
  remoteAddress?: string;
  caller?: Partial<Caller>;
  options?: Partial<TailnetOptions>;
}

function identify({ headers = {}, rawHeaders, remoteAddress = "127.0.0.1", caller = {}, options = {} }: Case = {}) {
  const all = { "x-forwarded-for": address, "x-forwarded-proto": "https", "tailscale-user-login": name, ...headers };
  const req: RequestHead = {
    headers: all,
    rawHeaders: rawHeaders ?? Object.entries(all).flat(),
    socket: { remoteAddress, remotePort: 40_000, localPort: 18_789 },
  };
  const whois = async (asked: string) => (asked === address ? name : undefined);
  const tailnet = createTailnetIdentity({ isAllowed: () => true, whois, peerUid: async () => 0, uid: 1000, ...options });
  return tailnet(req, { address, directLoopback: false, unattributed: false, ...caller });
}

describe("a name in the tailnet", () => {
  test("counts when the daemon knows it behind the client's address", async () => {
    expect(await identify()).toBe(name);
    expect(await identify({ headers: { "tailscale-user-login": "Ada@Example.com" } })).toBe(name);
  });

  test.each<[string, Case]>([
    ["where it is not allowed", { options: { isAllowed: () => false } }],
    ["that is not the one behind the address", { headers: { "tailscale-user-login": "bob@example.com" } }],
    ["that nobody sent", { headers: { "tailscale-user-login": "" } }],
    ["that came twice", { rawHeaders: ["Tailscale-User-Login", name, "tailscale-user-login", name] }],
    ["that did not come over loopback", { remoteAddress: "100.101.102.99" }],
    ["without a proxy that speaks for somebody else", { caller: { directLoopback: true } }],
    ["from a proxy that nobody lists", { caller: { unattributed: true } }],
    ["over plain HTTP", { headers: { "x-forwarded-proto": "http" } }],
    ["with an address that a client wrote itself", { headers: { "x-forwarded-for": `${address}, 10.0.0.1` } }],
    ["of an address outside of tailnets", { headers: { "x-forwarded-for": "203.0.113.9" }, caller: { address: "203.0.113.9" } }],
    ["that another user of this machine sends", { options: { peerUid: async () => 1001 } }],
  ])("%s does not", async (_, question) => {
    expect(await identify(question)).toBeUndefined();
  });

  test.each([[0], [1000], [undefined]])(
    "counts from a proxy of root, of the gateway's own user, and where nobody can tell: %s",
    async (uid) => {
      expect(await identify({ options: { peerUid: async () => uid } })).toBe(name);
    },
  );
});

test("the user at the other end of a connection stands in the system's table", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:4965 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 1 1",
    "   1: 0100007F:9C40 0100007F:4965 01 00000000:00000000 00:00000000 00000000  1001        0 2 1",
  ].join("\n");
  expect(uidIn(table, { remotePort: 40_000, localPort: 18_789 })).toBe(1001);
  expect(uidIn(table, { remotePort: 40_001, localPort: 18_789 })).toBeUndefined();
});

test.each([
  [JSON.stringify({ UserProfile: { LoginName: name } }), name],
  [JSON.stringify({ UserProfile: { LoginName: "tagged-devices" } }), undefined],
  [JSON.stringify({ UserProfile: { LoginName: "x".repeat(400) } }), undefined],
  [JSON.stringify({ UserProfile: {} }), undefined],
  ["[]", undefined],
  ["no JSON", undefined],
])("whois that says %.40s names %s", (output, login) => expect(loginOf(output)).toBe(login));
