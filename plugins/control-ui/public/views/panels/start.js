import { effect } from "@preact/signals";
import { onEvent, onOnline } from "../../core/conn.js";
import { styled } from "../../core/look.js";
import { panelList, panels } from "../../core/panels.js";
import { Panels } from "../../core/store.js";

/** Follows which panels plugins show, and draws them once there is one. A page without any has asked one question. */

const SOON_MS = 250;

let isPending = false;

onOnline(() => void panelList.read());
onEvent("plugins.changed", () => {
  if (isPending) return;
  isPending = true;
  setTimeout(() => {
    isPending = false;
    void panelList.read();
  }, SOON_MS);
});

effect(() => {
  if (Panels.peek() || panels.value.length === 0) return;
  styled(import("./surface.js")).then(
    (module) => {
      Panels.value = module.default;
    },
    () => undefined, // the next list tries again
  );
});
