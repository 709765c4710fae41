import type { Disposable } from "../../sdk/types/common.ts";

/** Origins under which proxies of this machine serve the gateway now. */
export interface PublishedOrigins {
  /** One object until it changes. */
  list(): readonly string[];
  add(origin: string): Disposable;
}

/** Makes an empty list. */
export function createPublishedOrigins(): PublishedOrigins {
  const counts = new Map<string, number>();
  let origins: readonly string[] = [];
  const change = (origin: string, by: 1 | -1) => {
    const count = (counts.get(origin) ?? 0) + by;
    if (count > 0) counts.set(origin, count);
    else counts.delete(origin);
    origins = [...counts.keys()];
  };
  return {
    list: () => origins,
    add(origin) {
      let isOn = true;
      change(origin, 1);
      return {
        dispose() {
          if (isOn) change(origin, -1);
          isOn = false;
        },
      };
    },
  };
}
