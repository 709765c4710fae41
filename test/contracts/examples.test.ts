import { describe } from "vitest";

/** The examples' own tests, run as a reader of the folder would run them. */
describe("example plugin-hello", () => import("../../examples/plugin-hello/src/contract.test.ts").then(() => undefined));
describe("example plugin-embedding", () => import("../../examples/plugin-embedding/src/contract.test.ts").then(() => undefined));
describe("example plugin-channel", () => import("../../examples/plugin-channel/src/contract.test.ts").then(() => undefined));
describe("example hook-github", () => import("../../examples/hook-github/github-events.test.ts").then(() => undefined));
describe("example transform-ts", () => import("../../examples/transform-ts/ci-failure.test.ts").then(() => undefined));
