import { defaultListenerTemplate, isTemplateOf } from "@xdstp/uri";
import type { BootstrapAuthority, JsonObject } from "./bootstrap.ts";
import { parseServers } from "./parse-servers.ts";
import { asObject, booleanIn, entries, objectIn, stringIn, wrongAt, type Placed } from "./place.ts";

/** `authorities` of a bootstrap. A template of another authority is an error (N-91). */
export function parseAuthorities(
  bootstrap: Placed<JsonObject>,
): ReadonlyMap<string, BootstrapAuthority> {
  const authorities = objectIn(bootstrap, "authorities");
  return new Map(
    authorities === undefined
      ? []
      : entries(authorities).map(([name, entry]) => [name, authorityOf(name, asObject(entry))]),
  );
}

function authorityOf(name: string, authority: Placed<JsonObject>): BootstrapAuthority {
  const template = stringIn(authority, "client_listener_resource_name_template");
  if (template !== undefined && !isTemplateOf(template, name)) {
    throw wrongAt(
      authority.place,
      `has a client_listener_resource_name_template of another authority; its own begin like ${defaultListenerTemplate(name)}`,
    );
  }
  return {
    servers: parseServers(authority),
    fallbackOnReachabilityOnly: booleanIn(authority, "fallback_on_reachability_only"),
    ...(template !== undefined && { clientListenerTemplate: template }),
  };
}
