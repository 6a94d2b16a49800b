import type { Interest } from "@xdstp/core";
import { byteLength } from "@xdstp/core/wire";
import type { StreamLimits } from "../stream/limits.ts";

/**
 * Returns why one of these names exceeds a limit, and which limit (S-LIM-4). undefined: none does.
 * @param located - Names with dynamic parameters. They may have as many of these as a name may have
 * context parameters, and their text may be as long as a name
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

/**
 * Counts the context parameters of a name. It does not parse the name, since lists have tens of
 * thousands of names of which few have parameters.
 */
function parametersIn(name: string): number {
  const begin = name.startsWith("xdstp:") ? name.indexOf("?") : -1;
  if (begin < 0) return 0;
  let count = 1;
  for (let at = name.indexOf("&", begin); at >= 0; at = name.indexOf("&", at + 1)) count++;
  return count;
}

/**
 * Returns true if a text has more than `bytes` bytes in UTF-8. A UTF-16 unit takes one to three
 * bytes, so the bytes are counted only if the number of units does not decide it.
 */
export function isLongerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && byteLength(text) > bytes;
}
