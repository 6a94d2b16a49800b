import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Registry } from "@bufbuild/protobuf";
import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type DataSource,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { cipherFault, curves, signatureAlgorithms } from "./tls-names.ts";
import { closestMessage, type VisitedMessage, visitMessages } from "./visit-messages.ts";

interface Certificate {
  readonly certificateChain?: DataSource;
  readonly privateKey?: DataSource;
  readonly password?: DataSource;
  readonly pkcs12?: DataSource;
  readonly privateKeyProvider?: object;
}

/** TLS settings that Envoy rejects: files and PEM that cannot be read, and names that its TLS library does not have. */
export const tlsChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-tls", "envoy.config.core.v3.DataSource", file),
  envoyCheck("bad-tls", "envoy.extensions.transport_sockets.tls.v3.TlsCertificate", pair),
  envoyCheck(
    "bad-tls",
    "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext",
    roots,
  ),
  envoyCheck(
    "bad-tls",
    "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext",
    hashes,
  ),
  envoyCheck("bad-tls", "envoy.extensions.transport_sockets.tls.v3.TlsParameters", parameters),
];

/** Checks that a file exists. The text is not shown, since it may be a key that was meant for `inline_string`. */
function* file({ specifier }: DataSource, scene: CheckScene): Iterable<EnvoyFinding> {
  if (specifier.case !== "filename" || typeof specifier.value !== "string") return;
  const { files } = scene;
  if (files === undefined || specifier.value === "" || isReadLater(scene)) return;
  if (!files.exists(specifier.value))
    yield finding(
      ["filename"],
      "is not a file that can be read",
      "Envoy reads it when it starts, relative to its working directory",
    );
}

const upstreamContext = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
const bootstrap = "envoy.config.bootstrap.v3.Bootstrap";
const secret = "envoy.extensions.transport_sockets.tls.v3.Secret";
const secretConfig = "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig";

/** Returns true if Envoy does not read the file when it starts: that of a secret without references, and those of credentials, which it reads for the first request. */
function isReadLater(scene: CheckScene): boolean {
  const isCredential = messagesAround(scene.visited).some(
    ({ message: { desc } }) =>
      desc.typeName.startsWith("envoy.extensions.common.aws.v3.") ||
      desc.typeName.startsWith("envoy.config.core.v3.GrpcService.GoogleGrpc."),
  );
  return isCredential || isInUnusedSecret(scene);
}

function messagesAround({ above }: VisitedMessage): readonly VisitedMessage[] {
  return above === undefined ? [] : [above, ...messagesAround(above)];
}

/** Names of the secrets to which a bootstrap refers. */
const usedSecrets = new WeakMap<object, ReadonlySet<string>>();

/** Returns true if this is part of a static secret that nothing refers to. Envoy does not read such a secret. */
function isInUnusedSecret({ visited, registry }: CheckScene): boolean {
  const holder = closestMessage(visited, secret);
  const root = holder && closestMessage(holder, bootstrap);
  if (holder === undefined || root === undefined) return false;
  const used = usedSecrets.get(root.message.message) ?? namesOfSecretsIn(root, registry);
  usedSecrets.set(root.message.message, used);
  return !used.has((holder.message.message as unknown as { readonly name: string }).name);
}

function namesOfSecretsIn(root: VisitedMessage, registry: Registry): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { message } of visitMessages(root, registry))
    if (message.desc.typeName === secretConfig)
      names.add((message.message as unknown as { readonly name: string }).name);
  return names;
}

/** Returns the content, if it is known. */
function contentOf(source: DataSource | undefined, { files }: CheckScene): string | undefined {
  const { specifier } = source ?? {};
  if (specifier?.value === undefined) return undefined;
  if (typeof specifier.value !== "string") return Buffer.from(specifier.value).toString();
  if (specifier.case === "inlineString") return specifier.value;
  return specifier.case === "filename" ? files?.read(specifier.value) : undefined;
}

/** Checks that a bundle of PKCS#12 can be opened. Envoy may open bundles that Node cannot, so only two reasons are reported. */
function* bundle(
  source: DataSource,
  password: DataSource | undefined,
  scene: CheckScene,
): Iterable<EnvoyFinding> {
  const pfx = bytesOf(source, scene);
  const passphrase = contentOf(password, scene);
  if (pfx === undefined || (password !== undefined && passphrase === undefined)) return;
  try {
    createSecureContext({ pfx, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    if (reason === "mac verify failure")
      yield finding(
        sourceAt("pkcs12", source),
        password === undefined ? "needs a password" : "cannot be opened with this password",
      );
    else if (["not enough data", "wrong tag"].includes(reason))
      yield finding(sourceAt("pkcs12", source), "is not a bundle of PKCS#12");
  }
}

/** Returns the content as bytes, if it is known. */
function bytesOf({ specifier }: DataSource, { files }: CheckScene): Buffer | undefined {
  const { case: form, value } = specifier;
  if (value instanceof Uint8Array) return Buffer.from(value);
  const bytes = form === "filename" && value !== undefined ? files?.readBytes?.(value) : undefined;
  return bytes === undefined ? undefined : Buffer.from(bytes);
}

/** Returns the path of the field with the content of a source. */
function sourceAt(field: string, source: DataSource | undefined): readonly string[] {
  const { case: form } = source?.specifier ?? {};
  const inner =
    form === "filename"
      ? ["filename"]
      : form === "inlineString"
        ? ["inline_string"]
        : form === "inlineBytes"
          ? ["inline_bytes"]
          : [];
  return [field, ...inner];
}

function* pair(certificate: Certificate, scene: CheckScene): Iterable<EnvoyFinding> {
  const { certificateChain, privateKey, password, pkcs12, privateKeyProvider } = certificate;
  if (isInUnusedSecret(scene)) return;
  if (pkcs12 !== undefined) {
    const more = certificateChain === undefined ? privateKey && "private_key" : "certificate_chain";
    if (more !== undefined) yield finding([more], "cannot be set next to pkcs12");
    yield* bundle(pkcs12, password, scene);
    return;
  }
  const isOfClient = closestMessage(scene.visited, upstreamContext) !== undefined;
  // A client without both of these presents no certificate.
  if (isOfClient && certificateChain === undefined && privateKey === undefined) return;
  if (certificateChain === undefined) {
    yield finding([], "a certificate needs certificate_chain");
    return;
  }
  if (privateKey === undefined && privateKeyProvider === undefined) {
    yield finding([], "a certificate needs its private_key");
    return;
  }
  const chain = contentOf(certificateChain, scene);
  const first = chain === undefined ? undefined : firstCertificate(chain);
  if (chain !== undefined && first === undefined)
    yield finding(
      sourceAt("certificate_chain", certificateChain),
      "holds no certificate in PEM that can be read",
    );
  const text = contentOf(privateKey, scene);
  if (text === undefined || (password !== undefined && contentOf(password, scene) === undefined))
    return;
  const key = readKey(text, contentOf(password, scene));
  if (key === undefined)
    yield finding(
      sourceAt("private_key", privateKey),
      "holds no private key in PEM that can be read",
    );
  else if (first !== undefined && !first.checkPrivateKey(key))
    yield finding(sourceAt("private_key", privateKey), "is not the key of the certificate");
}

function firstCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

function readKey(key: string, passphrase: string | undefined): KeyObject | undefined {
  try {
    return createPrivateKey({
      key,
      format: "pem",
      ...(passphrase !== undefined && { passphrase: passphrase.trimEnd() }),
    });
  } catch {
    return undefined;
  }
}

function* roots(
  { trustedCa }: { trustedCa?: DataSource },
  scene: CheckScene,
): Iterable<EnvoyFinding> {
  const text = isInUnusedSecret(scene) ? undefined : contentOf(trustedCa, scene);
  if (text !== undefined && firstCertificate(text) === undefined)
    yield finding(
      sourceAt("trusted_ca", trustedCa),
      "holds no certificate in PEM that can be read",
    );
}

function* hashes({
  verifyCertificateHash,
  verifyCertificateSpki,
}: {
  verifyCertificateHash: readonly string[];
  verifyCertificateSpki: readonly string[];
}): Iterable<EnvoyFinding> {
  for (const [index, hash] of verifyCertificateHash.entries())
    if (!/^(?:[0-9a-f]{64}|(?:[0-9a-f]{2}:){31}[0-9a-f]{2})$/i.test(hash))
      yield finding(
        ["verify_certificate_hash", index],
        "is not a SHA-256 of 64 hexadecimal digits",
      );
  for (const [index, hash] of verifyCertificateSpki.entries())
    if (Buffer.from(hash, "base64").length !== 32)
      yield finding(["verify_certificate_spki", index], "is not a SHA-256 in base64");
}

interface SecretConfig {
  readonly sdsConfig?: object;
}

/** Returns true if a secret is not static. Envoy then creates the context when it has received the secret. */
function waitsForSecrets(visited: VisitedMessage): boolean {
  const context = closestMessage(
    visited,
    "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext",
  );
  const { tlsCertificateSdsSecretConfigs: pairs = [], validationContextType: type } = (context
    ?.message.message ?? {}) as unknown as {
    readonly tlsCertificateSdsSecretConfigs?: readonly SecretConfig[];
    readonly validationContextType?: Oneof;
  };
  const roots =
    type?.case === "combinedValidationContext"
      ? (type.value as { readonly validationContextSdsSecretConfig?: SecretConfig })
          .validationContextSdsSecretConfig
      : type?.case === "validationContextSdsSecretConfig"
        ? (type.value as SecretConfig)
        : undefined;
  return [...pairs, roots].some((one) => one?.sdsConfig !== undefined);
}

function* parameters(
  parameters: {
    cipherSuites: readonly string[];
    ecdhCurves: readonly string[];
    signatureAlgorithms: readonly string[];
  },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  if (waitsForSecrets(visited)) return;
  for (const [field, list, known, what] of [
    ["ecdh_curves", parameters.ecdhCurves, curves, "curve"],
    [
      "signature_algorithms",
      parameters.signatureAlgorithms,
      signatureAlgorithms,
      "signature algorithm",
    ],
  ] as const)
    for (const [index, text] of list.entries())
      if (text !== "" && !text.split(":").every((one) => known.has(one)))
        yield finding([field, index], `${quote(text)} is not a ${what} that Envoy has`);
  const fault = cipherFault(parameters.cipherSuites);
  if (fault !== undefined) yield finding(["cipher_suites", fault.index], fault.message);
}
