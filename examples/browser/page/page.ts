// The page: shows one flag, and each change of it. `?server=ORIGIN` is the server of the flags.
import { createWebClient, type WatchState } from "@xdstp/web";

import { type Flag, flagName, flagType } from "../flag.ts";

const server = new URLSearchParams(location.search).get("server") ?? location.origin;
const client = createWebClient({ origin: server });
const off: Flag = {};

const watch = client.watch(flagType, flagName, show, { default: off });
show(watch.state);

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
