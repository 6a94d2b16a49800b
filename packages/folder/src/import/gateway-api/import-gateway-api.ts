import type { Registry } from "@bufbuild/protobuf";
import { findPosition } from "../../find-position.ts";
import { folderContext } from "../../folder-context.ts";
import type { FolderProblem } from "../../folder-problem.ts";
import { bySeverity } from "../../problem-codes.ts";
import { failedImport, type ImportConnection, type Imported } from "../imported.ts";
import { planImport } from "../plan-import.ts";
import { plainYaml } from "../yaml-with-comments.ts";
import { attachRoutes } from "./attached-routes.ts";
import { createBackendTls } from "./backend-tls.ts";
import { createBackends } from "./backends.ts";
import { envoyListeners } from "./envoy-listeners.ts";
import { gatewayListeners } from "./gateway-listeners.ts";
import { type KubernetesObjects, type ObjectFile, readObjects } from "./kubernetes-objects.ts";
import {
  field,
  type Finding,
  type ObjectNode,
  type ObjectReport,
  placeOf,
  reportUnread,
  reportUnreadRoot,
  rootOf,
  titleOf,
} from "./object-node.ts";
import { createReferences } from "./reference-grants.ts";
import { createTlsSecrets } from "./tls-secrets.ts";

/** Options of {@link importGatewayApi}. */
export interface GatewayApiOptions {
  /** Files with objects of Kubernetes: YAML with any number of documents, or JSON where the name ends with `.json`. */
  readonly files: readonly ObjectFile[];
  /** `envoyRegistry()` of `@xdstp/protos/envoy`, or one that has more. */
  readonly registry: Registry;
  /** The connection of Envoy to the server. */
  readonly connection: ImportConnection;
}

/**
 * Translates Gateways, their routes, Services, Secrets and policies of the Gateway API of Kubernetes to files of a folder, and a bootstrap that takes them from a server.
 * Unsupported fields, and references to missing objects, are in `warnings`, with the effect on requests. Never rejects: the faults of the files are in `problems`.
 */
export function importGatewayApi({ files, registry, connection }: GatewayApiOptions): Imported {
  const report = createReport();
  const { objects, problems } = readObjects(files, report);
  const follow = createReferences(objects);
  const secrets = createTlsSecrets(follow);
  const backends = createBackends(objects, follow, createBackendTls(objects, secrets));
  const listeners = gatewayListeners(objects, secrets);
  const attached = attachRoutes(objects, listeners);
  reportRest(objects);
  const served = envoyListeners(listeners, attached, backends);
  const found = bySeverity(report.problems(files));
  const errors = [...problems, ...found.problems];
  if (errors.length > 0) return failedImport(errors, found.warnings);
  const plan = planImport({
    bootstrap: { node: connection.node },
    registry: folderContext({ dir: ".", registry }).registry,
    yaml: plainYaml,
    connection,
    dynamic: [
      ...served,
      ...backends.resources(),
      ...secrets.resources(listeners.flatMap(({ certificates }) => certificates)),
    ],
    movesStatic: true,
  });
  const notes = [...unusedObjects(objects), ...plan.notes];
  return { ...plan, notes, missing: [], problems: [], warnings: found.warnings };
}

/** Reports the fields of objects that no other part reads. */
function reportRest(objects: KubernetesObjects): void {
  for (const kind of wholeKinds) for (const object of objects.of(kind)) reportUnreadRoot(object);
  for (const object of objects.of("GatewayClass"))
    reportUnread(field(rootOf(object), "spec"), ["controllerName", "description"]);
}

const wholeKinds = [
  "Gateway",
  "GatewayClass",
  "HTTPRoute",
  "GRPCRoute",
  "TLSRoute",
  "TCPRoute",
  "UDPRoute",
  "ReferenceGrant",
  "BackendTLSPolicy",
] as const;

/** Reports objects to which no served object refers. */
function unusedObjects(objects: KubernetesObjects): readonly string[] {
  const unused = (["Service", "Secret", "ConfigMap", "BackendTLSPolicy"] as const).flatMap((kind) =>
    objects.of(kind).filter((object) => !objects.isUsed(object)),
  );
  return unused.length === 0
    ? []
    : [`Nothing served refers to ${unused.map(titleOf).join(", ")}: not imported.`];
}

interface CollectedReport extends ObjectReport {
  /** In the order of the files, and of the places in them. */
  problems(files: readonly ObjectFile[]): readonly FolderProblem[];
}

function createReport(): CollectedReport {
  const found = new Map<string, { readonly node: ObjectNode; readonly finding: Finding }>();
  return {
    add(node, finding) {
      const { file, document, path } = node.object;
      const key = JSON.stringify([file, document, ...path, ...node.path, finding.message]);
      found.set(key, { node, finding });
    },
    problems(files) {
      const byFile = Map.groupBy(found.values(), ({ node }) => node.object.file);
      // A file that is given twice is reported once.
      return [...new Map(files.map((one) => [one.file, one])).values()].flatMap(({ file, text }) =>
        (byFile.get(file) ?? [])
          .map(({ node, finding: { code, message, hint } }): FolderProblem => {
            const path = [...node.object.path, ...node.path];
            const position = findPosition(text, node.object.document, path);
            return { file, ...position, code, message: `${placeOf(node)} ${message}`, hint };
          })
          .sort(byPosition),
      );
    },
  };
}

function byPosition(one: FolderProblem, other: FolderProblem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}
