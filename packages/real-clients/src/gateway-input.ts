import type { TestAuthority } from "@xdstp/testing";
import { parseAllDocuments, stringify } from "yaml";
import type { GatewayBackends } from "./gateway-backends.ts";

interface KubernetesJson {
  readonly kind?: string;
  readonly metadata?: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly ports?: readonly ServicePort[] };
  readonly items?: readonly KubernetesJson[];
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly appProtocol?: string;
  readonly protocol?: string;
}

/**
 * An input with what it needs to be used: certificates for `$CERT(NAME)`, `$KEY(NAME)` and `$CA`, and endpoints for each Service that has none.
 * The last port of a Service leads to a backend of its own; nothing listens behind the others.
 */
export async function completeInput(
  text: string,
  authority: TestAuthority,
  backends: GatewayBackends,
): Promise<string> {
  const pairs = new Map<string, ReturnType<TestAuthority["issue"]>>();
  const pairOf = (name: string): ReturnType<TestAuthority["issue"]> => {
    const pair = pairs.get(name) ?? authority.issue({ name, dnsNames: [name] });
    pairs.set(name, pair);
    return pair;
  };
  const whole = text
    .replaceAll(/\$CERT\((.*?)\)/g, (_, name: string) => base64(pairOf(name).cert))
    .replaceAll(/\$KEY\((.*?)\)/g, (_, name: string) => base64(pairOf(name).key))
    .replaceAll('"$CA"', JSON.stringify(authority.cert));
  const objects = parseAllDocuments(whole)
    .map((document) => document.toJS() as KubernetesJson)
    .flatMap((json) => json.items ?? [json]);
  const served = objects
    .filter(({ kind }) => kind === "EndpointSlice")
    .map(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"]);
  const slices: string[] = [];
  for (const { kind, metadata, spec } of objects)
    if (kind === "Service" && metadata !== undefined && !served.includes(metadata.name))
      slices.push(...(await slicesOf(metadata, spec?.ports ?? [], backends)));
  return [whole, ...slices].join("---\n");
}

async function slicesOf(
  { name, namespace = "default" }: NonNullable<KubernetesJson["metadata"]>,
  ports: readonly ServicePort[],
  backends: GatewayBackends,
): Promise<readonly string[]> {
  const last = ports.at(-1);
  if (last === undefined) return [];
  const kind =
    last.appProtocol === "kubernetes.io/h2c" ? "h2c" : last.port === 443 ? "tls" : "http";
  const real = await backends.start(`${namespace}/${name}`, kind);
  return ports.map((port, at) =>
    stringify({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: `${name}-${at}`,
        namespace,
        labels: { "kubernetes.io/service-name": name },
      },
      addressType: "IPv4",
      ports: [{ name: port.name ?? "", protocol: port.protocol, port: port === last ? real : 1 }],
      endpoints: [{ addresses: ["127.0.0.1"] }],
    }),
  );
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
