import { execFile } from "node:child_process";
import { join } from "node:path";

/** Result of loading one package with machine code. */
export interface NativeEvidence {
  package: "better-sqlite3" | "sqlite-vec";
  /** Absent: it works. */
  fault?: string;
}

/** A compiler is never started; a module that crashes takes its own process along. */
const LIMIT_MS = 20_000;

const script = `
const need = require("node:module").createRequire(process.argv[1]);
const found = [];
const attempt = (name, work) => {
  try { work(); found.push({ package: name }); }
  catch (error) { found.push({ package: name, fault: String(error && error.message || error).slice(0, 2000) }); }
};
let db;
attempt("better-sqlite3", () => { db = new (need("better-sqlite3"))(":memory:"); db.prepare("SELECT 1").get(); });
if (db) attempt("sqlite-vec", () => { need("sqlite-vec").load(db); db.prepare("SELECT vec_version()").get(); });
process.stdout.write(JSON.stringify(found));
`;

/** Loads SQLite and its extension in a process of their own, as the gateway would. */
export function probeNative(packageRoot: string, signal: AbortSignal): Promise<NativeEvidence[]> {
  return new Promise((resolve) => {
    const args = ["-e", script, join(packageRoot, "package.json")];
    execFile(process.execPath, args, { timeout: LIMIT_MS, signal, maxBuffer: 65_536, windowsHide: true }, (error, stdout) => {
      const found = parsed(stdout);
      if (found.length > 0) return resolve(found);
      resolve([
        { package: "better-sqlite3", fault: `it ended the process that loaded it (${error?.message.split("\n")[0] ?? "no answer"})` },
      ]);
    });
  });
}

function parsed(text: string): NativeEvidence[] {
  try {
    return JSON.parse(text) as NativeEvidence[];
  } catch {
    return [];
  }
}

/** The fault in a sentence, with the versions of the interface between Node and its modules where that is the reason. Pure. */
export function nativeReason(fault: string): string {
  const [built, needed] = [...fault.matchAll(/NODE_MODULE_VERSION (\d{1,6})/g)].map(([, abi]) => abi);
  if (built !== undefined) return `its binary is for Node ABI ${built}, this Node has ABI ${needed}`;
  if (/Could not locate the bindings file|Cannot find module/.test(fault)) return "it has no binary for this system";
  return fault.split("\n")[0] ?? fault;
}
