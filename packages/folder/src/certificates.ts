import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { Fault } from "./folder-problem.ts";

/** The paths of files that were filled in, by the message that contains their content. */
type Paths = ReadonlyMap<ReflectMessage["message"], string>;

/**
 * Checks the content of the files in a secret: a certificate has to be readable, and its key has to match. Throws a fault with the file.
 * The fault does not contain any text of a file. For a private key, it does not contain the reason either.
 */
export function checkCertificates(message: ReflectMessage, paths: Paths): void {
  const pair = part(message, "tls_certificate");
  const trusted = part(part(message, "validation_context"), "trusted_ca");
  if (trusted !== undefined) readCertificate(trusted, paths);
  const chain = part(pair, "certificate_chain");
  const key = part(pair, "private_key");
  const certificate = chain === undefined ? undefined : readCertificate(chain, paths);
  const privateKey = key === undefined ? undefined : readKey(key, part(pair, "password"), paths);
  if (certificate === undefined || privateKey === undefined) return;
  if (certificate.checkPrivateKey(privateKey)) return;
  const [keyPath, chainPath] = [key, chain].map((source) => source && paths.get(source.message));
  throw new Fault({
    code: "key-mismatch",
    message: `is not the private key of the certificate ${chainPath ?? "in the secret"}`,
    hint: "replace both; the pair before is served until then",
    file: keyPath ?? chainPath ?? "",
  });
}

function part(message: ReflectMessage | undefined, name: string): ReflectMessage | undefined {
  const field = message?.fields.find((one) => one.name === name);
  return message !== undefined && field?.fieldKind === "message" && message.isSet(field)
    ? message.get(field)
    : undefined;
}

/** Returns the content of a data source, or `undefined` if the client has it. */
function contentOf(source: ReflectMessage): string | Buffer | undefined {
  for (const name of ["inline_string", "inline_bytes"]) {
    const field = source.fields.find((one) => one.name === name);
    const value = field && source.isSet(field) ? source.get(field) : undefined;
    if (typeof value === "string") return value;
    if (value instanceof Uint8Array) return Buffer.from(value);
  }
  return undefined;
}

/** Reads all certificates and returns the first one. Returns `undefined` if the client has them, or if certificates that do not come from a file cannot be read. */
function readCertificate(source: ReflectMessage, paths: Paths): X509Certificate | undefined {
  const content = contentOf(source);
  if (content === undefined) return undefined;
  const file = paths.get(source.message);
  const text = content.toString();
  const first = firstOf(text);
  if (first !== undefined && file !== undefined && privateKey.test(text))
    throw new Fault({
      code: "exposed-private-key",
      message: "holds a private key too, and everything may read a certificate",
      hint: "keep the key in a file of its own, such as tls.key",
      file,
    });
  if (first !== undefined || file === undefined) return first;
  throw new Fault({
    code: "bad-certificate",
    message: "holds no certificate in PEM that can be read",
    hint: "write -----BEGIN CERTIFICATE----- and what follows it",
    file,
  });
}

/** Matches `-----BEGIN EC PRIVATE KEY-----`, also without its end. */
const privateKey = /-----BEGIN [^-]{0,64}PRIVATE KEY/i;

/** Returns the first certificate of a text. Returns `undefined` if there is none, or if one of them cannot be read. */
function firstOf(text: string): X509Certificate | undefined {
  try {
    return blocksIn(text).map((block) => new X509Certificate(block))[0];
  } catch {
    return undefined;
  }
}

/** Returns the PEM blocks of certificates, up to the first one without an end. The text is searched only once. */
function blocksIn(text: string): readonly string[] {
  const blocks: string[] = [];
  const begin = "-----BEGIN ";
  let at = text.indexOf(begin);
  while (at !== -1) {
    const labelAt = at + begin.length;
    const label = /^[^-]{0,64}CERTIFICATE(?=-----)/.exec(text.slice(labelAt, labelAt + 100))?.[0];
    let next = labelAt;
    if (label !== undefined) {
      const end = `-----END ${label}-----`;
      const endAt = text.indexOf(end, labelAt);
      if (endAt === -1) break;
      next = endAt + end.length;
      blocks.push(text.slice(at, next));
    }
    at = text.indexOf(begin, next);
  }
  return blocks;
}

function readKey(
  source: ReflectMessage,
  password: ReflectMessage | undefined,
  paths: Paths,
): KeyObject | undefined {
  const key = contentOf(source);
  const passphrase = password && contentOf(password);
  // The client has the password, so the key cannot be checked here.
  if (key === undefined || (password !== undefined && passphrase === undefined)) return undefined;
  try {
    return createPrivateKey({
      key,
      format: "pem",
      ...(passphrase !== undefined && { passphrase }),
    });
  } catch {
    const file = paths.get(source.message);
    if (file === undefined) return undefined;
    throw new Fault({
      code: "bad-certificate",
      message: "holds no private key in PEM that can be read",
      hint: "write -----BEGIN PRIVATE KEY----- and what follows it, and the password of an encrypted one into the field password",
      file,
    });
  }
}
