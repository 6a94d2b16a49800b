import type { Topic } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { textIn } from "../../harness/payload.ts";
import type { SimClient, Watched } from "../sim-client.ts";
import type { SimServer } from "../sim-server.ts";
import { isFullState } from "../types.ts";

/**
 * Returns the differences between the resources of a client and those of a server. Empty: there are none.
 * @param told - `sotw` if a connection on the way to the client uses SotW
 */
export function differencesOf(
  client: SimClient,
  server: SimServer,
  told: "delta" | "sotw",
): readonly string[] {
  return client.watched
    .values()
    .flatMap((watched) => differenceOf(client, watched, server, told))
    .toArray();
}

function differenceOf(
  { name, cache, feed }: SimClient,
  { typeUrl, name: wanted }: Watched,
  server: SimServer,
  told: "delta" | "sotw",
): readonly string[] {
  const [mine, theirs] = [
    cache.topic(typeUrl, { name: wanted }),
    server.cache.topic(typeUrl, { name: wanted }),
  ];
  const [held, had] = [textsOf(mine), textsOf(theirs)];
  const at = `${name}, ${wanted} of ${typeUrl}`;
  const wrong = had
    .entries()
    .filter(([one, text]) => held.get(one) !== text)
    .map(([one, text]) => `${at}: ${one} = ${text} is lost; ${held.get(one) ?? "nothing"} is held`);
  // SotW does not say what has gone of a type that is not of full state.
  if (told === "sotw" && !isFullState(typeUrl)) return [...wrong];
  const surplus = held
    .keys()
    .filter((one) => !had.has(one))
    .map((one) => `${at}: ${one} = ${held.get(one) ?? ""} is held, and has gone`);
  const unsettled = mine.settled ? [] : [`${at}: not settled`];
  // Nor does it say anything while there is nothing of what is wanted, so nothing tells that the supply is whole again.
  const stale =
    mine.stale === undefined || !feed.status().responded
      ? []
      : [`${at}: stale: ${mine.stale.text}`];
  return [...surplus, ...wrong, ...unsettled, ...stale];
}

/** By names that are equal (N-40), whoever spelled them. */
function textsOf(topic: Topic): ReadonlyMap<string, string> {
  return new Map(
    topic
      .members()
      .flatMap(({ name, resource }) =>
        resource === undefined ? [] : [[nameKey(name), textIn(resource.payload.value)] as const],
      ),
  );
}
