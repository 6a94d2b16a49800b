import { cutText } from "./cut-text.ts";

/** A private key in PEM, also one that is cut off, and however its lines end. */
const key = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g;
/** What stands in quotes behind the name of a field that holds a secret, or may hold one, in JSON, YAML and the text format of protobuf. */
const field = /((?:inline_?(?:string|bytes)|password|passphrase|secret|token|private_?key|credentials?)\w{0,40}["'\\]{0,4}\s{0,8}[:=]\s{0,8}\\?)(?:"(?:[^"\\]|\\[^])*(?:"|$)|'[^']*(?:'|$))/gi;

/**
 * What a peer says of an error: its beginning (S-ACK-15), without keys and passwords (B-CSDS-7). Clients print in it what they have refused; from here it goes to logs, status and other clients.
 * @param atMost - UTF-16 units
 */
export function errorText(text: string, atMost: number): string {
  return cutText(text, atMost).replace(key, "[redacted]").replace(field, "$1\"[redacted]\"");
}
