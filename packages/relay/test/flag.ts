import type { WatchedType } from "@xdstp/client";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";

export { flagName, flagUrl };

/** A custom type whose payload is a text: a relay passes it on without knowing it. */
export const flag: WatchedType<string> = {
  typeUrl: flagUrl,
  decode: (payload) => Buffer.from(payload).toString(),
};
