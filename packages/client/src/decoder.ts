import { type AnyBytes, nextTurn, type Resource, XdsError } from "@xdstp/core";
import { equalBytes, walkFields } from "@xdstp/core/wire";

import {
  isSchema,
  type TypeSource,
  type WatchedType,
  type WatchOptions,
  watchedType,
} from "./watch.ts";

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Decodes resources of one type. Each resource is decoded once, for all its readers. */
export interface Decoder<T> {
  /**
   * Decodes a resource before it is accepted, and keeps the message for `read`. Returns the reason
   * of a rejection (C-LIM-7).
   */
  check(
    resource: Resource,
    name: string,
    validate: WatchOptions<T>["validate"],
  ): XdsError | undefined;
  /**
   * Returns the message of a cached resource. Throws if the resource was never checked and cannot
   * be decoded.
   */
  read(resource: Resource): T;
}

/** A message, and the bytes that it was decoded from. */
interface Decoded<T> {
  readonly payload: Uint8Array;
  readonly value: T;
}

/** Creates a decoder. It keeps a message that was read as long as its resource exists. */
export function createDecoder<T>(type: WatchedType<T>): Decoder<T> {
  const messages = new WeakMap<Resource, { readonly value: T }>();
  /** Messages that a check has decoded in this turn and that were not read yet. */
  const fresh = new Map<string, Decoded<T>>();
  /**
   * The message of the previous check. If several watches check a resource, their checks follow
   * each other.
   */
  let last: Decoded<T> | undefined;
  // Keeping 1,000 messages until the end of the turn costs as much as decoding them again. So they
  // are only kept if the messages of the previous turn were read in that turn.
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
    if (last === undefined) nextTurn(endTurn);
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
      const isSame = decoded !== undefined && equalBytes(decoded.payload, resource.payload.value);
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

/**
 * Returns a check for resources that are not decoded yet. It rejects a resource of another type
 * and, if `source` is a schema, bytes that are not a message.
 */
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

/** Returns an error text for a payload of another type, such as a redirect or a list. */
function otherType(came: string, type: WatchedType<unknown>): string | undefined {
  return came === type.typeUrl || (came === REDIRECT && type.redirect !== undefined)
    ? undefined
    : `it is a ${came.replace(/^.*\//, "")}, which this client does not follow`;
}
