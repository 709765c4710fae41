import { availableParallelism, totalmem } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { SpreadSequencer } from "./test/sequencer.ts";
import { testKinds } from "./test/tools/source/test-kinds.ts";

/** `svc:source` makes `svc/sdk` resolve to the sources: one SDK object for the kernel, the plugins and the tests. */
const shared = {
  ssr: { resolve: { conditions: ["svc:source", "node"] } },
  resolve: { conditions: ["svc:source", "node"] },
};

/** One process runs many files, and imports the kernel and the SDK once. `setup-shared.ts` fails a file that leaves the process changed. */
const sharing = { isolate: false, setupFiles: ["./test/setup.ts", "./test/setup-shared.ts"] };

const { plain, gateway } = testKinds();
/** Files about a process itself: what modules do at their first import, what the runner leaves in it. Each has one of its own. */
const alone = ["test/meta/{expressions,process-state,sequencer}.test.ts"];
/** `npm run test:long` sets it. Files named `*.long.test.ts` are storms and fuzz through and through: they run with it only. */
const isLong = process.env.SVC_TEST_LONG === "1";
/** Tests that load the machine themselves: one after the other, with nothing beside them. */
const storms = ["test/e2e/{storm,reload-storm}.long.test.ts"];

/**
 * Of its wall time a test file computes in less than half (in `e2e` 40 %); the rest is waiting for sockets, files, clocks and programs. Six fill two cores, and
 * need up to 4 GB with what they start.
 */
const waitingWorkers = totalmem() > 6 * 1024 ** 3 ? 6 : 4;

/** Limits below find what hangs. They say nothing about speed: a machine that other work shares has been seen at a third of its usual pace. */
export default defineConfig({
  ...shared,
  test: {
    maxWorkers: Math.max(waitingWorkers, availableParallelism()),
    globalSetup: ["./test/global-setup.ts"],
    experimental: { fsModuleCache: true },
    // Projects of one group share the workers.
    sequence: { sequencer: SpreadSequencer },
    projects: [
      project("e2e", ["test/e2e/**/*.test.ts"], {
        ...sharing,
        setupFiles: ["./test/setup.ts", "./test/e2e/_setup.ts", "./test/setup-shared.ts"],
        exclude: isLong ? storms : ["**/*.long.test.ts"],
        testTimeout: 240_000,
        hookTimeout: 240_000,
        // A browser beside other test files may need longer than the second that is the default.
        expect: { poll: { timeout: 30_000 } },
      }),
      // On a fresh clone the first test of a process translates the plugins that it starts: half a minute where other work wants the cores.
      project("gateway", gateway, { ...sharing, testTimeout: 180_000, hookTimeout: 180_000 }),
      project("meta", ["test/meta/**/*.test.ts"], { ...sharing, exclude: alone, testTimeout: 180_000 }),
      project("alone", alone, { testTimeout: 180_000 }),
      // Files that cannot start a gateway.
      project("unit", plain, { ...sharing, testTimeout: 60_000, hookTimeout: 90_000 }),
      ...(isLong
        ? [project("storms", storms, { testTimeout: 240_000, hookTimeout: 240_000, fileParallelism: false, sequence: { groupOrder: 1 } })]
        : []),
    ],
  },
});

function project(name: string, include: string[], test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration {
  return { ...shared, test: { name, include, setupFiles: ["./test/setup.ts"], provide: { project: name }, ...test } };
}
