import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** `svc:source` makes `svc/sdk` resolve to the sources: one SDK object for the kernel, the plugins and the tests. */
const shared = {
  ssr: { resolve: { conditions: ["svc:source", "node"] } },
  resolve: { conditions: ["svc:source", "node"] },
};

/** Tests that load the machine themselves: one after the other, with nothing beside them. */
const storms = ["test/e2e/{storm,reload-storm,stop-under-load}.test.ts"];

export default defineConfig({
  ...shared,
  test: {
    // The default is one less than the cores: one, on the smallest machine that runs this. Most tests wait for sockets, files and clocks.
    maxWorkers: Math.max(3, availableParallelism()),
    globalSetup: ["./test/global-setup.ts"],
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          include: ["kernel/**/*.test.ts", "sdk/**/*.test.ts", "plugins/**/*.test.ts", "test/{kernel,sdk,contracts}/**/*.test.ts"],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      { ...shared, test: { name: "meta", include: ["test/meta/**/*.test.ts"], testTimeout: 60_000 } },
      {
        ...shared,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude: storms,
          testTimeout: 90_000,
          hookTimeout: 90_000,
          // Each file starts gateways of its own; they mostly wait, for one another and for a browser.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          name: "storms",
          include: storms,
          testTimeout: 90_000,
          hookTimeout: 90_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
