import type Database from "better-sqlite3";
import { Refusal } from "./refusal.ts";

export type Sqlite = Database.Database;
export type Statement = Database.Statement;

let loaded: typeof Database | undefined;

/**
 * Opens a connection. The package is imported on first use: a start without the store does not pay for it.
 * @throws {Refusal} `store-native-missing` when its binary is missing or made for another Node
 */
export async function openConnection(path: string, options: Database.Options): Promise<Sqlite> {
  try {
    loaded ??= (await import("better-sqlite3")).default;
    return new loaded(path, options);
  } catch (error) {
    throw nativeRefusal(error) ?? error;
  }
}

/** Opens another connection in the same turn; the package must have been loaded by `openConnection`. */
export function reopenConnection(path: string, options: Database.Options): Sqlite {
  if (!loaded) throw new Refusal("store-native-missing", { reason: "not loaded yet" });
  return new loaded(path, options);
}

/** The import succeeds without a binary and the constructor throws, so both are judged by what they threw. */
export function nativeRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || error.name === "SqliteError") return undefined;
  const code = (error as NodeJS.ErrnoException).code;
  if (/Could not locate the bindings file/.test(error.message)) return new Refusal("store-native-missing", { reason: "not built" });
  if (code === "ERR_DLOPEN_FAILED") return new Refusal("store-native-missing", { reason: "built for another Node or system" });
  if (code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND")
    return new Refusal("store-native-missing", { reason: "not installed" });
  return undefined;
}
