import { expect, test } from "vitest";
import { identityOf } from "./discovery.ts";

test.each([
  ['definePlugin({ id: "demo", version: "1.2.3" })', { id: "demo", version: "1.2.3" }],
  ["export default definePlugin<Config>({\n  version: '1.0.0-rc.1',\n  id: 'demo',\n})", { id: "demo", version: "1.0.0-rc.1" }],
  ['const id = "other"; definePlugin({ id: `demo`, version: "1.0.0" })', { id: "demo", version: "1.0.0" }],
  ["definePlugin({ id, version })", { id: "my-file", version: "0.0.0" }],
  ['definePlugin({ id: "../x", version: "new" })', { id: "my-file", version: "0.0.0" }],
  ['const plugin = { id: "demo" };', { id: "my-file", version: "0.0.0" }],
  ["", { id: "my-file", version: "0.0.0" }],
])("%j says who it is", (source, identity) => {
  expect(identityOf("/somewhere/my-file.mts", source)).toEqual(identity);
});
