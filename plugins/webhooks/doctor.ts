import type { DeliveryCounts, DoctorFinding } from "svc/sdk";
import type { HooksConfig } from "./action.ts";
import { figuresOf, type HookFacts } from "./health.ts";

/** Findings of `svc doctor` about running webhooks. Weak tokens and unframed payloads are warnings of the config itself. Pure. */
export function hookFindings(hooks: HooksConfig, { state, counts }: HookFacts): DoctorFinding[] {
  if (!hooks.enabled) return deliveryFindings(counts);
  const findings: DoctorFinding[] = [
    ...(state?.problems ?? []).map((message) => ({ id: "hooks/broken", severity: "error" as const, message, path: "hooks" })),
    ...(state?.warnings ?? []).map((message) => ({
      id: "hooks/transforms-open",
      severity: "warning" as const,
      message,
      path: "hooks.transformsDir",
    })),
  ];
  hooks.mappings.forEach((mapping, i) => {
    if (mapping.verify?.mode !== "instead") return;
    findings.push({
      id: "hooks/signature-instead",
      severity: "info",
      path: `hooks.mappings.${i}.verify.mode`,
      message: `the signature of ${mapping.verify.provider} opens "${mapping.match?.path ?? ""}" without the token`,
    });
  });
  hooks.presets.forEach((name, i) => {
    if (!state || state.knownPresets.includes(name)) return;
    findings.push({
      id: "hooks/preset-missing",
      severity: "warning",
      path: `hooks.presets.${i}`,
      message: `no running plugin brings the preset "${name}", so its paths answer 404`,
      fix: "svc plugins list shows plugins that are off or failed",
    });
  });
  if (hooks.transforms.isolation === "off") {
    findings.push({
      id: "hooks/isolation-off",
      severity: "error",
      path: "hooks.transforms.isolation",
      message: "transforms run inside the gateway with all of its rights, and nothing can stop one",
      fix: 'set it to "process"',
    });
  }
  return [...findings, ...deliveryFindings(counts)];
}

function deliveryFindings(counts: DeliveryCounts): DoctorFinding[] {
  const { failed, expired } = figuresOf(counts);
  if (failed + expired === 0) return [];
  const message = `${failed} hook actions have failed and ${expired} have expired within the last 7 days`;
  return [
    {
      id: "hooks/failed",
      severity: "warning",
      message,
      fix: "svc hooks list --deliveries --state failed shows them, svc hooks retry <uid> tries one again",
    },
  ];
}
