import type {
  Absence,
  ReceivedResponse,
  Wanted,
  WantedCollection,
  WantedName,
  WantedReader,
} from "@xdstp/protocol/client";
import { nameKey } from "@xdstp/uri";

/**
 * Returns what can be concluded from a response of full state, which has all there is. It says
 * nothing about an interest that was requested after the server may have sent it.
 * A name that has never come is left to the timer, since a server may send what it has so far,
 * unless the response has the whole type (C-FULL-3, C-WILD-11).
 */
export function absenceIn({ resources }: ReceivedResponse, wanted: WantedReader): Absence {
  const all = [...wanted];
  const answered = answeredIn(resources, all.filter(isLate), wanted);
  const counted = all.filter((one) => isCounted(one) || answered.has(one));
  const complete = counted.filter(isCollection);
  const present = new Set(
    resources.flatMap(({ key, aliases = [] }) => [key, ...aliases.map(nameKey)]),
  );
  // A name with an error does not exist until the server sends it (S-ERR-1).
  const removed = counted.filter(
    (one): one is WantedName =>
      one.kind === "name" && one.state.known.kind !== "failed" && !present.has(one.key),
  );
  const isAll = complete.some(({ kind }) => kind === "wildcard");
  return {
    complete,
    late: all.filter(isLate).filter((collection) => !answered.has(collection)),
    removed,
    missing: removed.filter(
      ({ state: { known } }) =>
        known.kind === "rejected" ||
        (isAll && (known.kind === "requested" || known.kind === "cached")),
    ),
    leftOut: all.filter(
      (one): one is WantedName =>
        one.kind === "name" && one.state.request.kind === "waiting" && !present.has(one.key),
    ),
  };
}

/**
 * Returns true if the server has read the request of an interest: it was in the first request of
 * the stream, or the server has answered it since.
 */
function isCounted({ state: { request } }: Wanted): boolean {
  switch (request.kind) {
    case "waiting":
    case "partial":
      return request.first;
    case "unsent":
      return false;
    default:
      return true;
  }
}

/**
 * Returns true for a collection that was requested after the first request, and about which nothing
 * is concluded yet.
 */
function isLate(wanted: Wanted): wanted is WantedCollection {
  const { request } = wanted.state;
  return (
    isCollection(wanted) &&
    "first" in request &&
    !request.first &&
    (request.kind === "waiting" || request.kind === "partial")
  );
}

function isCollection(wanted: Wanted): wanted is WantedCollection {
  return wanted.kind !== "name";
}

/**
 * Returns the late collections that must be the reason for a resource in the response. The server
 * has then read their requests, the oldest first, so this response and each later one has all of
 * them.
 */
function answeredIn(
  resources: ReceivedResponse["resources"],
  late: readonly WantedCollection[],
  wanted: WantedReader,
): ReadonlySet<Wanted> {
  const answered = new Set<Wanted>();
  for (const { key, aliases } of late.length === 0 ? [] : resources) {
    const covering = wanted.covering(key, aliases);
    const oldest = late.find((collection) => covering.includes(collection));
    if (oldest !== undefined && covering.every((one) => late.some((other) => other === one)))
      answered.add(oldest);
  }
  return answered;
}
