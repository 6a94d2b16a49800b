import type { Duration } from "@bufbuild/protobuf/wkt";

import { wrongAt, type Place } from "../grpc/place.ts";

/** Milliseconds of a duration of zero or more. */
export function readDuration(
  { seconds, nanos }: Pick<Duration, "seconds" | "nanos">,
  place: Place,
): number {
  const ms = Number(seconds) * 1000 + nanos / 1e6;
  if (ms < 0) throw wrongAt(place, "is below zero");
  return Math.ceil(ms);
}
