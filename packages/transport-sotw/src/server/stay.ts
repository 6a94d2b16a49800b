import type { Topic } from "@xdstp/core";
import { topicsOf } from "@xdstp/protocol/server";
import { isGlob, nameKey } from "@xdstp/uri";
import type { SotwState, Stay } from "./sotw-state.ts";

/** Returns true if a topic is that of a name that does not exist. */
export function isNameOfNothing(topic: Topic): boolean {
  const { name } = topic.interest;
  return (
    name !== "*" && !isGlob(name) && topic.members().every(({ resource }) => resource === undefined)
  );
}

/**
 * Returns true if removed names stay while they are subscribed. A client that subscribes by name
 * accepts a route before it has the cluster of that route, and its list shows when it has changed
 * over (S-ORD-3). Names do not stay if no type on the stream could refer to them.
 */
export function letsStay({ type, host }: SotwState, topics: readonly Topic[]): boolean {
  return (
    topics.some(isNameOfNothing) &&
    type?.refersTo?.some((typeUrl) => host.sibling(typeUrl) !== undefined) === true
  );
}

/** Returns true if a removed name is subscribed and has not stayed too long (S-ORD-4). */
export function mayStay(state: SotwState, name: string): boolean {
  const key = nameKey(name);
  return topicsOf(state, key).length > 0 && !isOver(state, state.stay.get(key));
}

/**
 * Notes the removed names that stay because they are subscribed, and since when. A name that has
 * stayed too long is kept as long as the client has it, so that its time does not start again.
 * `base`: returns the revision of a state that the client has of a name, or of an older one.
 */
export function noteStay(
  state: SotwState,
  names: readonly string[],
  base: (name: string) => number,
): void {
  if (names.length + state.stay.size === 0) return;
  const since = state.context.clock.now();
  state.stay = new Map(
    names.map((name) => {
      const key = nameKey(name);
      return [key, state.stay.get(key) ?? { since, base: base(name) }] as const;
    }),
  );
  wait(state);
}

/** Notes that a name has left the list. */
export function leave(state: SotwState, key: string): void {
  if (!state.stay.has(key)) return;
  state.stay = new Map([...state.stay].filter(([other]) => other !== key));
  wait(state);
}

/** Ends the stay of all names. */
export function endStay(state: SotwState): void {
  if (state.stay.size === 0) return;
  state.stay = new Map();
  wait(state);
}

function isOver({ context: { clock, limits } }: SotwState, stay: Stay | undefined): boolean {
  return stay !== undefined && clock.now() >= stay.since + limits.orderMs;
}

function wait(state: SotwState): void {
  const {
    stay,
    context: { clock, limits },
  } = state;
  state.parting?.cancel();
  const running = [...stay.values()].filter((one) => !isOver(state, one));
  const oldest = Math.min(...running.map(({ since }) => since));
  state.parting =
    running.length === 0
      ? undefined
      : clock.after(Math.max(0, oldest + limits.orderMs - clock.now()), () => {
          part(state);
        });
}

function part(state: SotwState): void {
  const { context, stream, typeUrl, stay, dirty, host } = state;
  for (const [key, one] of stay)
    if (isOver(state, one)) for (const topic of topicsOf(state, key)) dirty.add(topic);
  context.emit?.({ kind: "order-expired", stream, what: "removals", typeUrls: [typeUrl] });
  host.schedule();
}
