import { type AnyBytes, type Resource, XdsError } from "@xdstp/core";
import { walkFields } from "@xdstp/core/wire";

import {
  isSchema,
  type TypeSource,
  type WatchedType,
  type WatchOptions,
  watchedType,
} from "./watch.ts";

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Decodes resources of one type, each once, whoever reads it. */
export interface Decoder<T> {
  /** Decodes what is about to be taken, and keeps it for `read`. Gives why it cannot be taken (C-LIM-7). */
  check(
    resource: Resource,
    name: string,
    validate: WatchOptions<T>["validate"],
  ): XdsError | undefined;
  /** The message of a cached resource. Throws if it was never checked and cannot be decoded. */
  read(resource: Resource): T;
}

/** A message, and the bytes that it was made of. */
interface Decoded<T> {
  readonly payload: Uint8Array;
  readonly value: T;
}

/** A decoder that keeps messages that are read as long as their resources. */
export function createDecoder<T>(type: WatchedType<T>): Decoder<T> {
  const messages = new WeakMap<Resource, { readonly value: T }>();
  /** Decoded by a check, and not yet read: of the transactions of this turn. */
  const fresh = new Map<string, Decoded<T>>();
  /** By the check before. Another one of the same resource would be next. */
  let last: Decoded<T> | undefined;
  // To keep a thousand messages for a turn costs as much as to decode them again, so it is done where they are read in it.
  let isRead = true;
  let wasRead = false;
  const endTurn = (): void => {
    fresh.clear();
    last = undefined;
    isRead = wasRead;
    wasRead = false;
  };
  const valueOf = ({ typeUrl, value }: AnyBytes): T =>
    typeUrl === REDIRECT && type.redirect !== undefined ? type.redirect(value) : type.decode(value);
  const decode = (payload: AnyBytes): Decoded<T> => {
    const decoded = { payload: payload.value, value: valueOf(payload) };
    if (last === undefined) setImmediate(endTurn);
    return (last = decoded);
  };
  return {
    check(resource, name, validate) {
      try {
        const other = otherType(resource.payload.typeUrl, type);
        if (other !== undefined) return rejection(type, name, other);
        const { payload } = resource;
        const decoded = last?.payload === payload.value ? last : decode(payload);
        if (isRead) fresh.set(name, decoded);
        const fault = validate?.(decoded.value, resource);
        return fault === undefined ? undefined : rejection(type, name, fault);
      } catch (error) {
        return rejection(type, name, error);
      }
    },
    read(resource) {
      const known = messages.get(resource);
      if (known !== undefined) return known.value;
      if (last !== undefined) wasRead = true;
      const decoded = fresh.get(resource.name);
      const isSame =
        decoded !== undefined && Buffer.compare(decoded.payload, resource.payload.value) === 0;
      const value = isSame ? decoded.value : valueOf(resource.payload);
      messages.set(resource, { value });
      return value;
    },
  };
}

function rejection({ typeUrl }: WatchedType<unknown>, name: string, fault: unknown): XdsError {
  const text =
    fault instanceof XdsError ? fault.text : fault instanceof Error ? fault.message : String(fault);
  const rule = fault instanceof XdsError ? fault.context.rule : undefined;
  return new XdsError("INVALID_ARGUMENT", text, { typeUrl, resource: name, rule, cause: fault });
}

/** Why something is rejected that is not decoded yet: it is of another type or, where a schema says what it should be, no message at all. */
export function checkUndecoded(
  source: TypeSource<unknown>,
): (resource: Resource, name: string) => XdsError | undefined {
  const type = watchedType(source);
  const { typeUrl } = type;
  return ({ payload }, name) => {
    const isWhole =
      !isSchema(source) || walkFields(payload.value, () => undefined).outcome === "complete";
    const fault =
      otherType(payload.typeUrl, type) ?? (isWhole ? undefined : "its payload is not a message");
    return fault === undefined
      ? undefined
      : new XdsError("INVALID_ARGUMENT", fault, { typeUrl, resource: name });
  };
}

/** A redirect or a list, for example. */
function otherType(came: string, type: WatchedType<unknown>): string | undefined {
  return came === type.typeUrl || (came === REDIRECT && type.redirect !== undefined)
    ? undefined
    : `it is a ${came.replace(/^.*\//, "")}, which this client does not follow`;
}
