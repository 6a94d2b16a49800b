import type { UpstreamStatus } from "@xdstp/relay";
import type { Health } from "@xdstp/server";

/** A server upstream that is away: what came from it is served on. */
export function upstreamHealth({ name, lastWordAt, staleSince, failure }: UpstreamStatus): Health {
  return {
    kind: "upstream",
    name,
    ...(lastWordAt !== undefined && { loadedAt: lastWordAt }),
    ...(staleSince !== undefined && {
      stale: { since: staleSince, reason: failure?.text ?? "its stream has ended" },
    }),
  };
}
