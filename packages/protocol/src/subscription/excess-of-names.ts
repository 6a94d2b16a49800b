import type { Interest } from "@xdstp/core";
import type { StreamLimits } from "../stream/limits.ts";

/**
 * Why one of these names is more than a name may be, and by which limit; undefined: none is (S-LIM-4).
 * @param located - Names with dynamic parameters: as many of these as a name may have, and all of their text as long as a name
 */
export function excessOfNames(
  names: readonly string[],
  located: readonly Interest[],
  limits: StreamLimits,
): readonly [message: string, limit: "nameLength" | "parameters"] | undefined {
  for (const name of names) {
    const excess = excessOfName(name, limits);
    if (excess !== undefined) return excess;
  }
  for (const { name, parameters = new Map<string, string>() } of located) {
    const excess = excessOfName(name, limits) ?? excessOfParameters(parameters, limits);
    if (excess !== undefined) return excess;
  }
  return undefined;
}

type Excess = NonNullable<ReturnType<typeof excessOfNames>>;

function excessOfName(name: string, { nameLength, parameters }: StreamLimits): Excess | undefined {
  if (isLongerThan(name, nameLength))
    return [`a name is longer than ${nameLength} bytes`, "nameLength"];
  return parametersIn(name) > parameters
    ? [`a name has more than ${parameters} context parameters`, "parameters"]
    : undefined;
}

function excessOfParameters(
  given: ReadonlyMap<string, string>,
  { nameLength, parameters }: StreamLimits,
): Excess | undefined {
  if (given.size > parameters)
    return [`a locator has more than ${parameters} dynamic parameters`, "parameters"];
  return isLongerThan([...given].flat().join(""), nameLength)
    ? [`the dynamic parameters of a locator are longer than ${nameLength} bytes`, "nameLength"]
    : undefined;
}

/** Counts without parsing: names come by the ten thousand, and few have any. */
function parametersIn(name: string): number {
  const begin = name.startsWith("xdstp:") ? name.indexOf("?") : -1;
  if (begin < 0) return 0;
  let count = 1;
  for (let at = name.indexOf("&", begin); at >= 0; at = name.indexOf("&", at + 1)) count++;
  return count;
}

/** Whether a text has more than `most` bytes of UTF-8. A UTF-16 unit makes one to three of them, so they are counted only where the units leave it open. */
export function isLongerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}
