// Writes states of all names to a snapshot one after the other, as a relay does, and prints the
// number of each state that is stored. The parent process kills it.
import { flushCompileCache } from "node:module";

import { keepResource } from "@xdstp/cache";

import { SnapshotStore } from "../src/snapshot-store.ts";
import { flagName, flagUrl } from "../../rollout/test/flag.ts";

// Node stores compiled code when it exits, which this program never does by itself. Otherwise each
// start would compile the same sources.
flushCompileCache();

const [dir = "", count = "0", first = "1"] = process.argv.slice(2);
const store = new SnapshotStore({
  dir,
  onEvent: ({ kind }) => {
    if (kind !== "snapshot-opened") console.log(kind);
  },
});
console.log("open");

// Each body contains the number of the state, and has another length each time.
for (let state = Number(first); ; state++) {
  for (let nth = 0; nth < Number(count); nth++) {
    const [name, value] = [
      flagName(`ns/${nth}`),
      `${state} ${"x".repeat((state * nth * 7) % 3_000)}`,
    ];
    store.put(
      { space: "", typeUrl: flagUrl, name },
      keepResource({ name, version: "", payload: { typeUrl: flagUrl, value: Buffer.from(value) } }),
    );
  }
  await store.flush();
  if (store.status().trouble === undefined) console.log(state);
}
