import { XdsError } from "@xdstp/core";

/**
 * Returns the defaults with the given limits. Throws an XdsError that names a limit that is not an
 * integer from 1 to 2,147,483,647.
 */
export function resolveLimits<Limits extends object>(
  defaults: Limits,
  limits: Partial<Limits> = {},
): Limits {
  const given = Object.entries(limits).filter((entry) => entry[1] !== undefined);
  for (const [name, value] of given) check(defaults, name, value);
  return { ...defaults, ...Object.fromEntries(given) };
}

function check(defaults: object, name: string, value: unknown): void {
  if (!Object.hasOwn(defaults, name)) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `limits.${name} does not exist; the limits are ${Object.keys(defaults).join(", ")}`,
    );
  }
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 0x7fff_ffff) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `limits.${name} is ${String(value)}; give a whole number from 1 to 2147483647`,
  );
}
