import { XdsError } from "@xdstp/core";

import type { Place } from "../grpc/place.ts";

/** A spot further in. */
export function inside({ path, ...place }: Place, ...steps: readonly (string | number)[]): Place {
  return {
    ...place,
    path: steps.reduce<string>(
      (way, step) =>
        typeof step === "number"
          ? `${way}[${step}]`
          : [way, step].filter((part) => part !== "").join("."),
      path,
    ),
  };
}

/** The error of what is there and has no meaning here yet. */
export function unsupportedAt({ source, path }: Place, problem: string): XdsError {
  return new XdsError("UNIMPLEMENTED", `${source}: ${path} ${problem}`);
}
