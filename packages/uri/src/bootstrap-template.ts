import { decode, encode, inId } from "./percent-encoding.ts";

/**
 * Returns the resource name that a template of the gRPC bootstrap gives for a target
 * (xdstp-names.md section 11, gRFC A47).
 *
 * Every `%s` is replaced; other `%` sequences stay (N-92). In an xdstp template the target is
 * escaped as a path; in any other template it is inserted unchanged.
 */
export function expandTemplate(template: string, target: string): string {
  return template.replaceAll("%s", () =>
    template.startsWith("xdstp:") ? encode(target, inId) : target,
  );
}

/** Returns the default `client_listener_resource_name_template` of an authority (N-91). */
export function defaultListenerTemplate(authority: string): string {
  return `xdstp://${encode(authority, inId).replaceAll("/", "%2F")}/envoy.config.listener.v3.Listener/%s`;
}

/**
 * Returns true if a `client_listener_resource_name_template` is valid for an authority: it has to
 * begin with `xdstp://<authority>/`, however the authority is escaped (N-91).
 */
export function isTemplateOf(template: string, authority: string): boolean {
  const slash = template.indexOf("/", 8);
  return (
    template.startsWith("xdstp://") &&
    slash !== -1 &&
    decode(template, 8, slash, "authority") === authority
  );
}
