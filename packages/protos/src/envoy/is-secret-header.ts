/** Names of headers with credentials: `authorization`, `cookie`, `x-api-key`, `lightstep-access-token` and the like. */
const secretName = /^(?:proxy-)?authorization$|(?:cookie|api-?key|token|secret|password)$/i;

/** The type of a header that is added to requests, responses or calls. @internal */
export const headerType = "envoy.config.core.v3.HeaderValue";

/** Whether the value of a header with this name must not be shown (B-CSDS-7). @internal */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name.trim());
}
