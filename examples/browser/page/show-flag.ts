import type { WatchState, WebClient, WebType } from "@xdstp/web";

import { type Flag, flagName } from "../flag.ts";

const off: Flag = {};

/** Shows the flag, and each change of it, in the elements of the page. */
export function showFlag(client: WebClient, type: WebType<Flag>): void {
  show(client.watch(type, flagName, show, { default: off }).state);
}

function show(state: WatchState<Flag, Flag>): void {
  const output = find("output");
  const { on = false, percent = 0 } = state.value;
  output.textContent = on ? `on for ${percent} %` : "off";
  output.dataset.phase = state.phase;
  find("p").textContent = {
    waiting: "not known yet",
    stored: "as of your last visit",
    current: "now",
    missing: "the server does not have this flag",
  }[state.phase];
  find("small").textContent = state.error?.text ?? "";
}

function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}
