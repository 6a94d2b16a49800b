import type { WatchedType } from "@xdstp/client";

export const flagUrl = "type.googleapis.com/acme.v1.Flag";

/** A type of one's own whose payload is a text: what a relay passes on without knowing it. */
export const flag: WatchedType<string> = {
  typeUrl: flagUrl,
  decode: (payload) => Buffer.from(payload).toString(),
};

export const flagName = (path: string): string => `xdstp://acme/acme.v1.Flag/${path}`;
