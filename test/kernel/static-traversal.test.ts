import { readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const separators = ["/", "\\", "%2f", "%5c", "%252f"];
const ups = ["..", "%2e%2e", ".%2e", "%252e%252e", "..;", "%c0%ae%c0%ae"];
const depths = [1, 3, 8];
const targets = ["svc.json", "package.json", "etc/passwd"];
const bases = ["/", "/app/", "/sdk/client/"];

const variants = separators.flatMap((separator, s) =>
  ups.flatMap((up, u) =>
    depths.flatMap((depth) =>
      targets.map((target, t) => bases[(s + u + t) % 3] + `${up}${separator}`.repeat(depth) + target.replaceAll("/", separator)),
    ),
  ),
);

let gateway: TestGateway;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["control-ui"] });
});
afterAll(async () => {
  agent.destroy();
  await gateway?.close();
});

/** A request whose target goes over the wire as it stands here. */
function get(path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(new URL(gateway.url), { agent, path }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, body }));
    })
      .on("error", reject)
      .end();
  });
}

test("270 ways to walk out of the static files lead to none of the host's", async () => {
  const page = await get("/");
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining("<!doctype html>") });
  expect(await readFile(join(gateway.stateDir, "svc.json"), "utf8")).toContain(gateway.token);
  expect(new Set(variants).size).toBe(270);

  const answers = await Promise.all(variants.map(async (path) => ({ path, ...(await get(path)) })));
  const leaks = answers.filter(({ body }) => body.includes(gateway.token) || /root:.*:0:0:/.test(body) || body.includes('"name": "svc"'));
  expect(leaks.map((a) => a.path)).toEqual([]);
  const odd = answers.filter(({ status, body }) => status !== 400 && status !== 404 && body !== page.body);
  expect(odd.map((a) => `${a.status} ${a.path}`)).toEqual([]);
});
