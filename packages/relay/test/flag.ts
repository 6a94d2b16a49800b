import type { WatchedType } from "@xdstp/client";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";

export { flagName, flagUrl };

/** A type of one's own whose payload is a text: what a relay passes on without knowing it. */
export const flag: WatchedType<string> = {
  typeUrl: flagUrl,
  decode: (payload) => Buffer.from(payload).toString(),
};
