import { toJson } from "@bufbuild/protobuf";
import { type StoredResource, XdsError } from "@xdstp/core";
import { readRedirect, ResourceLocatorSchema } from "@xdstp/protos/xds";
import {
  type Locator,
  locatorFromMessage,
  printLocator,
  type ResourceLocatorMessage,
} from "@xdstp/uri";

import { transportKeys } from "./read-target.ts";

/** The type of a payload that redirects (C-REDIR-1). */
const LOCATOR = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Returns true if a resource is a redirect to another one. */
export function isRedirect({ payload }: StoredResource): boolean {
  return payload.typeUrl === LOCATOR;
}

/**
 * Returns the `location` of a redirect: a path for the authority of the request, else a URL without
 * a scheme, so that a redirect never lowers transport security (C-REDIR-8). Directives are not part
 * of it (B-HTTP-1).
 * @param query - parameters of the transport, which are added
 * Throws an XdsError, FAILED_PRECONDITION, if the target cannot be requested over HTTP.
 */
export function locationOf(
  resource: StoredResource,
  authority: string,
  query: ReadonlyMap<string, string>,
): string {
  const locator = readLocator(resource);
  if (locator.scheme === "file")
    throw broken(resource, `it leads to a file, ${printLocator(locator)}`);
  const printed = printLocator({ ...locator, directives: [] });
  const [, host = "", path = ""] = /^[a-z]+:\/\/([^/]*)(\/.*)$/.exec(printed) ?? [];
  if (transportKeys.some((key) => locator.contextParams.has(key)) || dots.test(path))
    throw broken(
      resource,
      `a URL cannot name ${printed}; use a target without the segments . and .., and without the parameters after, at and form`,
    );
  const isHere = locator.authority === authority || locator.authority === "";
  return `${isHere ? "" : `//${host}`}${withQuery(path, query)}`;
}

/** A segment that a URL resolves, so that it leads to another resource. */
const dots = /\/\.{1,2}(?:[/?]|$)/;

/** Adds parameters to a path that may have a query. */
export function withQuery(path: string, query: ReadonlyMap<string, string>): string {
  const added = Array.from(query, ([key, value]) => `${key}=${encodeURIComponent(value)}`);
  if (added.length === 0) return path;
  return `${path}${path.includes("?") ? "&" : "?"}${added.join("&")}`;
}

function readLocator(resource: StoredResource): Locator {
  const read = readRedirect(resource.payload.value);
  if (!read.ok) throw broken(resource, read.reason);
  const locator = locatorFromMessage(
    read.value.form === "text"
      ? read.value.text
      : (toJson(ResourceLocatorSchema, read.value.message) as ResourceLocatorMessage),
  );
  if (!locator.ok) throw broken(resource, locator.error.message);
  return locator.value;
}

function broken({ name }: StoredResource, reason: string): XdsError {
  return new XdsError("FAILED_PRECONDITION", `the redirect ${name} cannot be followed: ${reason}`, {
    resource: name,
    rule: "B-HTTP-8",
  });
}
