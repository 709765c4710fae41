import type { SvcConfig } from "svc/sdk";

/** Visibility of heartbeats for the people on a channel. */
export interface Visibility {
  /** A heartbeat that found nothing is said there. */
  showOk: boolean;
  /** News are said there. */
  showAlerts: boolean;
  /** The report says by `indicatorType` how it went. */
  useIndicator: boolean;
}

type Section = Partial<SvcConfig["channels"][string]>;

/** The rules of an account, key by key: its own, those of its channel, `channels.defaults`. Without a channel the last ones hold. Pure. */
export function visibilityOf({ channels }: SvcConfig, { channel, accountId }: { channel?: string; accountId?: string } = {}): Visibility {
  const section: Section = channel === undefined ? {} : (channels[channel] ?? {});
  const own: Section = section.accounts?.[accountId ?? section.defaultAccount ?? "default"] ?? {};
  const base = channels.defaults;
  return {
    showOk: own.heartbeat?.showOk ?? section.heartbeat?.showOk ?? base.heartbeat.showOk,
    showAlerts: own.heartbeat?.showAlerts ?? section.heartbeat?.showAlerts ?? base.heartbeat.showAlerts,
    useIndicator: own.heartbeat?.useIndicator ?? section.heartbeat?.useIndicator ?? base.heartbeat.useIndicator,
  };
}
