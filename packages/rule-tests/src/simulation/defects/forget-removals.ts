import { around } from "./around.ts";
import type { Defect } from "./defect.ts";

/** A snapshot that does not write down what has gone: after a restart it is there again. */
export const forgetRemovals: Defect = {
  snapshot: (store) =>
    around(store, {
      remove: (record) => {
        store.index.delete(record);
      },
    }),
};
