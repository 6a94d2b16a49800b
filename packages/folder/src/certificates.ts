import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { Fault } from "./folder-problem.ts";

/** The paths of files that were filled in, by the message that has their content. */
type Paths = ReadonlyMap<ReflectMessage["message"], string>;

/**
 * Checks what the files of a secret hold: a certificate that can be read, and a key that fits it. Throws a fault with the file.
 * No text of a file gets into it, and of a private key no reason either.
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

/** The content of a data source. undefined: it is at the client. */
function contentOf(source: ReflectMessage): string | Buffer | undefined {
  for (const name of ["inline_string", "inline_bytes"]) {
    const field = source.fields.find((one) => one.name === name);
    const value = field && source.isSet(field) ? source.get(field) : undefined;
    if (typeof value === "string") return value;
    if (value instanceof Uint8Array) return Buffer.from(value);
  }
  return undefined;
}

/** The first certificate; all of them are read. undefined: none of it comes from a file. */
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

/** `-----BEGIN EC PRIVATE KEY-----`, also where its end is missing. */
const privateKey = /-----BEGIN [^-]{0,64}PRIVATE KEY/i;

/** The first certificate of a text. undefined: one of them cannot be read, or there is none. */
function firstOf(text: string): X509Certificate | undefined {
  try {
    return blocksIn(text).map((block) => new X509Certificate(block))[0];
  } catch {
    return undefined;
  }
}

/** The blocks of certificates in PEM, up to the first one that does not end. Goes once through the text. */
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
  // A password that the client has.
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
