import type { JsonObject } from "@bufbuild/protobuf";
import { byAge } from "./gateway-listeners.ts";
import type { KubernetesObjects } from "./kubernetes-objects.ts";
import {
  field,
  isSet,
  itemsOf,
  type KubernetesObject,
  notImported,
  type ObjectNode,
  oneOf,
  reportUnread,
  requiredText,
  rootOf,
  textOf,
  titleOf,
} from "./object-node.ts";
import { everyOne, type TlsSecrets } from "./tls-secrets.ts";

/** Which Services are reached over TLS. */
export interface BackendTls {
  /** The fields of a cluster for TLS to a port of a Service. Empty if no policy has the Service; undefined if its policy cannot be used, which is reported. */
  transportOf(service: KubernetesObject, port: string): JsonObject | undefined;
}

/** Reads the BackendTLSPolicies among objects. The older policy of a Service has precedence, and one that names the port over all. */
export function createBackendTls(objects: KubernetesObjects, secrets: TlsSecrets): BackendTls {
  const policies = [...objects.of("BackendTLSPolicy")].sort(byAge);
  const targets = policies.flatMap((policy) => {
    const spec = field(rootOf(policy), "spec");
    reportUnread(spec, ["targetRefs", "validation"]);
    // The version v1alpha2 has one target. It has no validation, so requests are rejected instead of sent in plain text.
    const single = field(spec, "targetRef");
    const all = [...itemsOf(field(spec, "targetRefs")), ...(isSet(single) ? [single] : [])];
    return all.flatMap((node) => targetAt(node, spec) ?? []);
  });
  const byService = Map.groupBy(targets, keyOf);
  const oldest = new Map<string, Target>();
  for (const target of targets) {
    const key = JSON.stringify([keyOf(target), target.section]);
    const older = oldest.get(key);
    if (older === undefined) oldest.set(key, target);
    else
      notImported(
        target.node,
        `${titleOf(older.spec.object)} is older, and has this Service`,
        "keep one of them",
      );
  }
  return {
    transportOf(service, port) {
      const ofService = byService.get(keyOf(service)) ?? [];
      const found =
        ofService.find(({ section }) => section === port && port !== "") ??
        ofService.find(({ section }) => section === undefined);
      if (found !== undefined) objects.use(found.spec.object);
      return found === undefined ? {} : transportBy(field(found.spec, "validation"), secrets);
    },
  };
}

interface Target {
  readonly node: ObjectNode;
  readonly spec: ObjectNode;
  readonly namespace: string;
  readonly name: string;
  /** The name of a port. undefined: all. */
  readonly section: string | undefined;
}

function targetAt(node: ObjectNode, spec: ObjectNode): Target | undefined {
  const kind = requiredText(field(node, "kind"));
  const name = requiredText(field(node, "name"));
  if ((textOf(field(node, "group")) ?? "") !== "" || kind !== "Service") {
    notImported(node, "it is not a Service", "name a Service");
    return undefined;
  }
  const section = textOf(field(node, "sectionName"));
  return { node, spec, namespace: node.object.namespace, name, section };
}

function keyOf({ namespace, name }: Pick<Target, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

/** The authorities of the images of Envoy and of Debian. */
const machineAuthorities = "/etc/ssl/certs/ca-certificates.crt";

function transportBy(validation: ObjectNode, secrets: TlsSecrets): JsonObject | undefined {
  reportUnread(validation, [
    "caCertificateRefs",
    "wellKnownCACertificates",
    "hostname",
    "subjectAltNames",
  ]);
  const hostname = requiredText(field(validation, "hostname"));
  const trusted = authoritiesOf(validation, secrets);
  if (trusted === undefined || hostname === "") return undefined;
  const names = itemsOf(field(validation, "subjectAltNames")).flatMap((node) => {
    const type = oneOf(field(node, "type"), ["Hostname", "URI"], "Hostname");
    const key = type === "URI" ? "uri" : "hostname";
    return [{ san_type: type === "URI" ? "URI" : "DNS", matcher: exactly(field(node, key)) }];
  });
  const own = [{ san_type: "DNS", matcher: { exact: hostname } }];
  return {
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        sni: hostname,
        common_tls_context: {
          validation_context: {
            trusted_ca: trusted,
            match_typed_subject_alt_names: names.length > 0 ? names : own,
          },
        },
      },
    },
  };
}

function exactly(node: ObjectNode): JsonObject {
  return { exact: requiredText(node) };
}

function authoritiesOf(validation: ObjectNode, secrets: TlsSecrets): JsonObject | undefined {
  const refs = field(validation, "caCertificateRefs");
  const wellKnown = field(validation, "wellKnownCACertificates");
  if (isSet(wellKnown))
    return oneOf(wellKnown, ["System"], "System") && { filename: machineAuthorities };
  const pems = everyOne(refs, (reference) => secrets.authorities(reference));
  return pems && { inline_string: pems.join("\n") };
}
