import { createWebClient, type WatchState } from "@xdstp/web";

import { type Flag, flagName, flagType } from "../../../../examples/browser/flag.ts";

/**
 * Watches the flag of `examples/browser` on a server, and prints each state as a line such as
 * `current: 10 %`, or `current: 10 %, UNAVAILABLE` while requests fail. Runs in the runtime under
 * test, so it uses nothing of Node. Returns the function that ends the watch.
 */
export function printFlag(server: string, print: (line: string) => void): () => void {
  const client = createWebClient({ origin: server });
  const show = ({ phase, value, error }: WatchState<Flag, Flag>): void => {
    const percent = `${phase}: ${String(value.percent ?? 0)} %`;
    print(error === undefined ? percent : `${percent}, ${error.code}`);
  };
  const none: Flag = {};
  show(client.watch(flagType, flagName, show, { default: none }).state);
  return () => {
    client.close();
  };
}
