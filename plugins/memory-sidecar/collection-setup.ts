import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "svc/sdk";
import type { Collection } from "./collections.ts";
import { blockingCollection, type Engine } from "./engine.ts";

export interface SetupLog {
  debug(message: string): void;
  warn(message: string): void;
}

/** Collections that the engine has, and those that it could not be given, with the reason. */
export interface SetUp {
  ready: Collection[];
  failed: Array<{ name: string; reason: string }>;
}

/**
 * Gives the engine the collections of an agent: those that are missing or differ are recreated; others in its home that svc once made are removed.
 * A collection that cannot be made is left out, and the others are there all the same.
 * @param recreate recreates all of them
 * @throws {EngineFault} when not even the list can be read
 */
export async function setUpCollections(
  engine: Engine,
  wanted: readonly Collection[],
  { recreate = false, log }: { recreate?: boolean; log: SetupLog },
): Promise<SetUp> {
  const present = new Set(await engine.collectionNames());
  const own = await withoutTwins(wanted);
  const names = new Set(own.map(({ name }) => name));
  for (const name of present) if (!names.has(name)) await engine.removeCollection(name);
  const setUp: SetUp = { ready: [], failed: [] };
  const fitting = recreate
    ? new Set<Collection>()
    : await fittingOf(
        engine,
        own.filter(({ name }) => present.has(name)),
      );
  for (const collection of own) {
    try {
      if (!fitting.has(collection)) await make(engine, collection, { isPresent: present.has(collection.name), names });
      setUp.ready.push(collection);
    } catch (error) {
      setUp.failed.push({ name: collection.name, reason: messageOf(error) });
      log.warn(`collection "${collection.name}" could not be created: ${messageOf(error)}`);
    }
  }
  return setUp;
}

/** Commands that only look, at the same time. */
const TOGETHER = 8;

/** Collections that the engine has with their folder and pattern; it tells of one a command. */
async function fittingOf(engine: Engine, present: readonly Collection[]): Promise<Set<Collection>> {
  const fitting = new Set<Collection>();
  for (let at = 0; at < present.length; at += TOGETHER) {
    await Promise.all(
      present.slice(at, at + TOGETHER).map(async (collection) => {
        const made = await engine.collection(collection.name).catch(() => undefined); // it is recreated then
        if (made?.root === collection.root && made.pattern === collection.pattern) fitting.add(collection);
      }),
    );
  }
  return fitting;
}

interface Made {
  isPresent: boolean;
  /** Names of all wanted collections. */
  names: ReadonlySet<string>;
}

async function make(engine: Engine, collection: Collection, { isPresent, names }: Made): Promise<void> {
  // The engine refuses a folder that is not there; one that the operator names is not made for him.
  if (collection.isOwn) await mkdir(collection.root, { recursive: true, mode: 0o700 });
  if (isPresent) await engine.removeCollection(collection.name);
  try {
    await engine.addCollection(collection);
  } catch (error) {
    const other = blockingCollection(error);
    if (other === undefined || other === "" || names.has(other)) throw error;
    await engine.removeCollection(other); // an older one of this home
    await engine.addCollection(collection);
  }
}

/** Leaves out collections of one file whose names differ by their case, on a disk where that is one file. */
async function withoutTwins(wanted: readonly Collection[]): Promise<Collection[]> {
  const kept: Collection[] = [];
  for (const collection of wanted) {
    const twin = kept.find((one) => one.root === collection.root && one.pattern.toLowerCase() === collection.pattern.toLowerCase());
    if (twin && (await isSameFile(join(twin.root, twin.pattern), join(collection.root, collection.pattern)))) continue;
    kept.push(collection);
  }
  return kept;
}

async function isSameFile(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(a).catch(() => undefined), lstat(b).catch(() => undefined)]);
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}
