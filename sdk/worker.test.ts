import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { compiledTwin, setCompiledModules, startWorker, workerUrl } from "./worker.ts";

let dir: string;
beforeAll(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "svc-worker-")), "a folder with spaces & ümlauts");
  await mkdir(dir);
});
afterAll(() => rm(join(dir, ".."), { recursive: true, force: true }));

test("a worker's file stands beside the caller and has the caller's extension", () => {
  expect(workerUrl("file:///x/store/writer.ts", "./writer.worker").href).toBe("file:///x/store/writer.worker.ts");
  expect(workerUrl("file:///x/dist/store/writer.js", "./writer.worker").href).toBe("file:///x/dist/store/writer.worker.js");
});

test("TypeScript runs as a worker, with the SDK, wherever it stands", async () => {
  const file = join(dir, "echo.worker.ts");
  await writeFile(
    file,
    `import { parentPort, workerData } from "node:worker_threads";
     import { commonErrors, type SvcError } from "svc/sdk";
     const error: SvcError = commonErrors.usage({ message: workerData as string });
     parentPort?.postMessage(error.toPlain());`,
  );
  const worker = startWorker(pathToFileURL(file), { workerData: "from outside" });
  const [plain] = await once(worker, "message");
  expect(plain).toMatchObject({ code: "usage", fields: { message: "from outside" }, message: "from outside" });
  await worker.terminate();
});

test("JavaScript runs as it is", async () => {
  const file = join(dir, "plain.worker.mjs");
  await writeFile(file, `import { parentPort } from "node:worker_threads"; parentPort.postMessage(import.meta.url);`);
  const worker = startWorker(pathToFileURL(file));
  expect(await once(worker, "message")).toEqual([pathToFileURL(file).href]);
  await worker.terminate();
});

test("what a worker throws while it loads reaches its owner", async () => {
  const file = join(dir, "broken.worker.ts");
  await writeFile(file, `throw new Error("this worker is broken");`);
  const [error] = await once(startWorker(pathToFileURL(file)), "error");
  expect((error as Error).message).toContain("this worker is broken");
});

test("in tests the compiled file of a module runs, where there is one", async () => {
  const before = compiledTwin(new URL("./worker.ts", import.meta.url))?.folder;
  onTestFinished(() => setCompiledModules(before));
  setCompiledModules(join(dir, "dist"));
  await mkdir(join(dir, "dist/store"), { recursive: true });
  await writeFile(join(dir, "dist/store/twin.worker.js"), `require("node:worker_threads").parentPort.postMessage("compiled");`);
  const worker = startWorker(pathToFileURL(join(dir, "store/twin.worker.ts")));
  expect(await once(worker, "message")).toEqual(["compiled"]);
  await worker.terminate();
  expect(compiledTwin(pathToFileURL(join(dir, "store/other.worker.ts")))).toBeUndefined();
});
