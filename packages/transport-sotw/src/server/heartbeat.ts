import type { Entry } from "@xdstp/core";
import { createLifetimes, sendHeartbeat, ttlsOf } from "@xdstp/protocol/server";
import type { SotwState } from "./sotw-state.ts";

/**
 * Notes that the client came back and already has all of these members. Their time has run on, so a
 * heartbeat is due (C-TTL-6). In a full state the shortest TTL serves for all resources (S-TTL-8).
 */
export function resume(state: SotwState, members: readonly Entry[]): void {
  const ttls = ttlsOf(members);
  if (state.profile.heartbeat === undefined || ttls.length === 0) return;
  const lifetimes = (state.lifetimes ??= createLifetimes());
  lifetimes.sent = lifetimes.accepted = members;
  for (const ttlMs of state.type?.fullStateInSotw === true ? ttls.slice(0, 1) : ttls) {
    state.context.heartbeats.add(ttlMs, state.watcher);
    sendHeartbeat(state, members, ttlMs, true);
  }
}

const texts = new WeakMap<readonly Entry[], string>();

/** Returns true if the members of two full states have the same TTLs. */
export function haveEqualTtls(first: readonly Entry[], second: readonly Entry[]): boolean {
  return textOf(first) === textOf(second);
}

function textOf(entries: readonly Entry[]): string {
  let text = texts.get(entries);
  if (text === undefined)
    texts.set(
      entries,
      (text = entries
        .flatMap(({ name, resource }) =>
          resource?.ttlMs === undefined ? [] : [`${resource.ttlMs} ${name}`],
        )
        .sort()
        .join("\n")),
    );
  return text;
}
