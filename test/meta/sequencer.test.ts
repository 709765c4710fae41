import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { longest, SpreadSequencer } from "../sequencer.ts";

const isolated = { isolate: true, sequence: { groupOrder: 0 } };
const sharing = { isolate: false, sequence: { groupOrder: 0 } };
const last = { isolate: true, sequence: { groupOrder: 1 } };

/** Files as the runner names them; nothing is known of earlier runs. */
const files = [
  ...named("gateway", sharing, 4),
  ...named("e2e", isolated, 2),
  ...named("unit", sharing, 6),
  ...named("meta", isolated, 4),
  ...named("storms", last, 2),
];

function named(name: string, config: object, count: number): TestSpecification[] {
  return Array.from({ length: count }, (_, i) => ({ moduleId: `/${name}/${i}.test.ts`, project: { name, config } }) as TestSpecification);
}

async function order(seed?: number, given = files): Promise<string[]> {
  const cache = { getFileTestResults: () => undefined, getFileStats: () => undefined };
  const sequencer = new SpreadSequencer({ config: { root: "/", sequence: { seed } }, cache } as unknown as Vitest);
  return (await sequencer.sort(given)).map(({ moduleId }) => moduleId);
}

const projects = (ids: string[]) => ids.map((id) => id.split("/")[1]);
const runs = (names: Array<string | undefined>) => names.filter((name, i) => name !== names[i - 1]);

describe("files", () => {
  test("of isolated projects are mixed, those that share processes follow project by project, later groups come last", async () => {
    const names = projects(await order());
    expect(names.slice(0, 6)).toEqual(["meta", "e2e", "meta", "meta", "e2e", "meta"]);
    expect(runs(names.slice(6))).toEqual(["gateway", "unit", "storms"]);
    expect(names).toHaveLength(files.length);
  });

  test("that take minutes are there, and begin first", async () => {
    expect(longest.filter((name) => !existsSync(join(import.meta.dirname, `../e2e/${name}.test.ts`)))).toEqual([]);
    const stories = ["deploy", longest[1], longest[0]].map(
      (name) => ({ moduleId: `/svc/test/e2e/${name}.test.ts`, project: { name: "e2e", config: sharing } }) as TestSpecification,
    );

    const ids = await order(undefined, [...files, ...stories]);

    const own = ids.filter((id) => id.startsWith("/svc/")).map((id) => id.split("/").at(-1));
    expect(own).toEqual([`${longest[0]}.test.ts`, `${longest[1]}.test.ts`, "deploy.test.ts"]);
  });

  test("run in the order of a seed, each seed another, and the projects stay where they are", async () => {
    const [one, again] = await Promise.all([order(1), order(1)]);
    expect(again).toEqual(one);
    for (let seed = 2; seed < 20; seed++) {
      const other = await order(seed);
      expect(other).not.toEqual(one);
      expect(projects(other)).toEqual(projects(one));
      expect(other.toSorted()).toEqual(one.toSorted());
    }
  });
});
