import type { Duration } from "@bufbuild/protobuf/wkt";

import { type Place, wrongAt } from "../grpc/place.ts";

/** Returns a duration in milliseconds, rounded up. Throws for a negative one. */
export function readDuration(
  { seconds, nanos }: Pick<Duration, "seconds" | "nanos">,
  place: Place,
): number {
  const ms = Number(seconds) * 1000 + nanos / 1e6;
  if (ms < 0) throw wrongAt(place, "is below zero");
  return Math.ceil(ms);
}
