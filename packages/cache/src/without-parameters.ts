import { isGlob, parseName, printName } from "@xdstp/uri";

/** A name without some context parameters (S-CTX-4). What is not an xdstp name, or a glob, whose members have its parameters (S-GLOB-4), stays as it is. */
export function withoutParameters(name: string, keys: readonly string[]): string {
  if (keys.length === 0 || !name.startsWith("xdstp:") || !name.includes("?") || isGlob(name))
    return name;
  const parsed = parseName(name);
  if (!parsed.ok || !keys.some((key) => parsed.value.contextParams.has(key))) return name;
  const contextParams = new Map(
    [...parsed.value.contextParams].filter(([key]) => !keys.includes(key)),
  );
  return printName({ ...parsed.value, contextParams });
}
