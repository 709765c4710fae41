import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configured, freshHome, json, stopAll } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Home, svcCommand } from "./_process.ts";

describe("svc agents", () => {
  let home: Home;
  beforeAll(async () => {
    home = await configured(await freshHome());
    await gatewayHere(home);
  });
  afterAll(stopAll);

  test("add makes an agent of a name, list shows it, delete puts its files into the trash", async () => {
    const workspace = join(home.stateDir, "workspace-helper-two");
    const added = await svcCommand(home, ["agents", "add", "Helper Two", "--emoji", "🛠"]);
    expect(added).toMatchObject({ code: 0, stdout: `helper-two: added, workspace ${workspace}\n` });
    await writeFile(join(workspace, "note.md"), "keep me");

    const listed = await command(home, ["agents", "list"]);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/^ID +NAME +MODEL +WORKSPACE$/m);
    expect(listed.stdout).toMatch(/^main \(default\) +- /m);
    expect(listed.stdout).toMatch(/^helper-two +🛠 Helper Two +- +\/.*workspace-helper-two$/m);

    const deleted = await commandJson(home, ["agents", "delete", "helper-two"]);
    expect(deleted).toMatchObject({ code: 0, value: { ok: true, agentId: "helper-two", removedBindings: 0 } });
    await access(join(String(deleted.value.trash), "workspace", "note.md"));
    expect((await commandJson(home, ["agents", "list"])).value).toMatchObject({ defaultId: "main", agents: [{ id: "main" }] });
  });

  test("delete --keep-files leaves them", async () => {
    const { value } = await commandJson(home, ["agents", "add", "stays"]);
    const { code, stdout } = await command(home, ["agents", "delete", "stays", "--keep-files"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "stays: deleted\n" });
    await access(join(String(value.workspace), "AGENTS.md"));
  });

  test("refusals exit with 1 and say why, a missing id is a usage error", async () => {
    expect(await json(home, ["agents", "delete", "main"])).toMatchObject({
      code: 1,
      value: { ok: false, error: { type: "rpc", code: "INVALID_REQUEST", message: expect.stringContaining("default agent") } },
    });
    expect((await command(home, ["agents", "add", "Main"])).stderr).toContain('agent "main" is reserved');
    expect(await command(home, ["agents", "add"])).toMatchObject({ code: 2 });
  });
});
