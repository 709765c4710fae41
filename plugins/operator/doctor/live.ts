import { type CliContext, type DoctorFinding, messageOf, type ResultOf } from "svc/sdk";

/** Parts of health that leave a notice, which is a finding of its own. */
const noticed: ReadonlySet<string> = new Set(["clock", "safeMode", "stateHistory"]);

/** Collects findings of the running gateway and its plugins; none when no gateway runs, and a gateway that does not answer is a finding. */
export async function liveFindings(cli: CliContext): Promise<DoctorFinding[]> {
  if (!(await cli.lockOwner())?.port) return [];
  try {
    return await cli.withClient(async (client) => {
      const { findings } = await client.request("gateway.doctor", {});
      return [...findings, ...healthFindings(await client.request("health", { probe: true }))];
    });
  } catch (error) {
    const message = `a gateway is running here but did not answer: ${messageOf(error)}`;
    return [{ id: "gateway/unreachable", severity: "warning", message }];
  }
}

/** Findings about the problems that a running gateway reports. Of plugins that only wait for another one, that one is named. Pure. */
export function healthFindings({
  ok,
  problems = {},
  plugins,
}: Pick<ResultOf<"health">, "ok" | "problems"> & { plugins: Pick<ResultOf<"health">["plugins"], "errors"> }): DoctorFinding[] {
  const severity = ok ? "warning" : "error";
  const failed = plugins.errors
    .filter(({ error }) => !/^plugin "[^"]+" is /.test(error))
    .map(
      ({ id, error }): DoctorFinding => ({ id: "gateway/problem", severity, message: `plugin ${id} does not run: ${error}`, fix: restart }),
    );
  const parts = Object.entries(problems)
    .filter(([part]) => !noticed.has(part) && !part.startsWith("plugin:"))
    .map(([part, message]): DoctorFinding => {
      const fix = fixes[part];
      return { id: "gateway/problem", severity, message: `${part}: ${message}`, ...(fix === undefined ? {} : { fix }) };
    });
  return [...failed, ...parts];
}

const restart = "svc gateway restart, once the reason is mended";
const fixes: Readonly<Record<string, string>> = { memoryPressure: "svc gateway restart" };
