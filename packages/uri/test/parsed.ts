import {
  parseLocator,
  parseName,
  type Locator,
  type ParseResult,
  type UriError,
  type XdstpLocator,
  type XdstpName,
} from "../src/index.ts";

/** Returns the value of a result; throws if it is an error. */
export function valueOf<T>(result: ParseResult<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** Returns the error of a result; throws if there is none. */
export function errorOf(result: ParseResult<unknown>): UriError {
  if (result.ok) throw new Error("no error");
  return result.error;
}

export const name = (text: string): XdstpName => valueOf(parseName(text));
export const locator = (text: string): Locator => valueOf(parseLocator(text));

export function xdstpLocator(text: string): XdstpLocator {
  const parsed = locator(text);
  if (parsed.scheme !== "xdstp") throw new Error(`${text} is not an xdstp locator`);
  return parsed;
}
