import { createRequire, syncBuiltinESMExports } from "node:module";

const refused = (): never => {
  throw Object.assign(new Error("signals to other processes are switched off here"), { code: "ERR_ACCESS_DENIED" });
};

/**
 * Takes the ways to other processes away from code that is loaded after this call. Node's permission model lets a child process send signals: it could
 * kill the gateway, or open its inspector.
 */
export function switchOffSignals(): void {
  for (const way of ["kill", "_kill", "_debugProcess", "_debugEnd"]) {
    if (way in process) Object.defineProperty(process, way, { value: refused, configurable: true });
  }
  createRequire(import.meta.url)("node:os").setPriority = refused;
  syncBuiltinESMExports();
}
