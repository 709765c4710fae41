import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects everything that nothing holds, at once. */
export const collectGarbage = runInNewContext("gc") as () => void;

/** Number of objects that something still holds, after {@link collectGarbage}. */
export const held = (refs: ReadonlyArray<WeakRef<object>>): number => refs.filter((ref) => ref.deref() !== undefined).length;
