import { decode, encode, inId } from "./percent-encoding.ts";

/**
 * The resource name that a template of the gRPC bootstrap gives for a target (xdstp-names.md section 11, gRFC A47).
 *
 * Every `%s` is replaced, other `%` sequences stay (N-92). In an xdstp template the target is escaped as a path; in another it is taken as it is.
 */
export function expandTemplate(template: string, target: string): string {
  return template.replaceAll("%s", () =>
    template.startsWith("xdstp:") ? encode(target, inId) : target,
  );
}

/** The `client_listener_resource_name_template` of an authority that gives none (N-91). */
export function defaultListenerTemplate(authority: string): string {
  return `xdstp://${encode(authority, inId).replaceAll("/", "%2F")}/envoy.config.listener.v3.Listener/%s`;
}

/** Whether a `client_listener_resource_name_template` may stand under an authority: it begins with `xdstp://<authority>/`, however the authority is escaped (N-91). */
export function isTemplateOf(template: string, authority: string): boolean {
  const slash = template.indexOf("/", 8);
  return (
    template.startsWith("xdstp://") &&
    slash !== -1 &&
    decode(template, 8, slash, "authority") === authority
  );
}
