import { describe } from "vitest";

/** The examples' own tests, run as a reader of the folder would run them. */
describe("example plugin-embedding", () => import("../../examples/plugin-embedding/contract.test.ts").then(() => undefined));
describe("example plugin-channel", () => import("../../examples/plugin-channel/contract.test.ts").then(() => undefined));
