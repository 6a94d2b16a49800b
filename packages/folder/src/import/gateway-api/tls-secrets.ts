import { createPrivateKey, X509Certificate } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { secret } from "@xdstp/resource-types";
import type { JsonResource } from "../json-resource.ts";
import { adsSource } from "../plan-import.ts";
import {
  dangling,
  field,
  itemsOf,
  type KubernetesObject,
  notImported,
  type ObjectNode,
  requiredText,
  rootOf,
  textOf,
} from "./object-node.ts";
import type { FollowReference } from "./reference-grants.ts";

/** Certificates of Secrets and ConfigMaps as resources. */
export interface TlsSecrets {
  /** A certificate with its key; undefined where there is none that can be used, which is reported. */
  certificate(reference: ObjectNode): CertificateOfSecret | undefined;
  /** Certificates of authorities, in PEM; undefined where there are none that can be used, which is reported. */
  authorities(reference: ObjectNode): string | undefined;
  /** The secrets with these names. */
  resources(names: readonly string[]): readonly JsonResource[];
}

/** The certificate and key of a Secret. */
export interface CertificateOfSecret {
  /** The name of the secret that is served. */
  readonly name: string;
  /** The reference to the secret in a TLS context. */
  readonly json: JsonObject;
}

/** Reads what references of Gateways and policies lead to. */
export function createTlsSecrets(follow: FollowReference): TlsSecrets {
  const used = new Map<string, JsonResource>();
  return {
    certificate(reference) {
      const object = followTo(reference, ["Secret"], follow);
      if (object === undefined) return undefined;
      const name = `${object.namespace}/${object.name}`;
      const [chain, key] = [pemOf(object, "tls.crt"), pemOf(object, "tls.key")];
      const trouble = pairTrouble(chain, key);
      if (trouble !== undefined) {
        dangling(reference, `refers to Secret ${name}, ${trouble}`, "correct the Secret");
        return undefined;
      }
      used.set(name, {
        type: secret,
        name,
        json: {
          name,
          tls_certificate: {
            certificate_chain: { inline_string: chain ?? "" },
            private_key: { inline_string: key ?? "" },
          },
        },
      });
      return { name, json: { name, sds_config: adsSource() } };
    },
    authorities(reference) {
      const object = followTo(reference, ["ConfigMap", "Secret"], follow);
      if (object === undefined) return undefined;
      const pem = pemOf(object, "ca.crt");
      if (pem !== undefined && certificateIn(pem) !== undefined) return pem;
      dangling(
        reference,
        `refers to ${object.kind} ${object.namespace}/${object.name}, whose ca.crt is not a certificate in PEM`,
        "add it to the object",
      );
      return undefined;
    },
    resources(names) {
      const wanted = new Set(names);
      return [...used.values()].filter(({ name }) => wanted.has(name));
    },
  };
}

function followTo(
  node: ObjectNode,
  kinds: readonly ("Secret" | "ConfigMap")[],
  follow: FollowReference,
): KubernetesObject | undefined {
  const group = textOf(field(node, "group")) ?? "";
  const written = textOf(field(node, "kind")) ?? kinds[0];
  const kind = kinds.find((one) => group === "" && one === written);
  const name = requiredText(field(node, "name"));
  if (kind === undefined) {
    notImported(node, `it is not a reference to a ${kinds.join(" or ")}`, `refer to one`);
    return undefined;
  }
  const namespace = textOf(field(node, "namespace")) ?? node.object.namespace;
  return follow(node, { kind, namespace, name });
}

/** Returns the fault of a certificate and its key, as the rest of a sentence about their secret. It does not contain their text. undefined: they are valid. */
function pairTrouble(chain: string | undefined, key: string | undefined): string | undefined {
  if (chain === undefined || key === undefined) return "which has no tls.crt and tls.key";
  const certificate = certificateIn(chain);
  if (certificate === undefined) return "whose tls.crt is not a certificate in PEM";
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
      ? undefined
      : "whose tls.key is not the key of its tls.crt";
  } catch {
    return "whose tls.key is not a private key in PEM";
  }
}

/** The first of a chain; all of them are read. */
function certificateIn(pem: string): X509Certificate | undefined {
  try {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    return blocks.map((block) => new X509Certificate(block))[0];
  } catch {
    return undefined;
  }
}

/** A text of a Secret, where `data` is in base64, or of a ConfigMap. */
function pemOf(object: KubernetesObject, key: string): string | undefined {
  const root = rootOf(object);
  const plain = textOf(field(root, "stringData", key));
  if (plain !== undefined) return plain;
  const text = textOf(field(root, "data", key));
  if (text === undefined || object.kind === "ConfigMap") return text;
  return Buffer.from(text, "base64").toString();
}

/** The references in a list, each of which has to be usable. undefined: one is not, or there is none. */
export function everyOne<T>(
  list: ObjectNode,
  read: (reference: ObjectNode) => T | undefined,
): readonly T[] | undefined {
  const found = itemsOf(list).map(read);
  const usable = found.filter((one) => one !== undefined);
  return usable.length === found.length && usable.length > 0 ? usable : undefined;
}
