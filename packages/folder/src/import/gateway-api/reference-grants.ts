import { groupOfKind, type KubernetesObjects, type ObjectKind } from "./kubernetes-objects.ts";
import {
  dangling,
  field,
  itemsOf,
  type KubernetesObject,
  type ObjectNode,
  reportUnread,
  requiredText,
  rootOf,
  textOf,
} from "./object-node.ts";

/** An object that another one refers to, by the names in a reference. */
export interface Reference {
  readonly kind: ObjectKind;
  readonly namespace: string;
  readonly name: string;
}

/** Finds the object that a reference leads to. undefined: it is not there, or no ReferenceGrant of its namespace allows the reference; both are reported at the reference. */
export type FollowReference = (node: ObjectNode, to: Reference) => KubernetesObject | undefined;

/** Reads the ReferenceGrants among objects. */
export function createReferences(objects: KubernetesObjects): FollowReference {
  const grants = objects.of("ReferenceGrant").map(readGrant);
  return (node, to) => {
    const from = node.object;
    const isGranted =
      from.namespace === to.namespace ||
      grants.some((grant) => grant.namespace === to.namespace && grant.allows(from, to));
    if (!isGranted) {
      dangling(
        node,
        `refers to ${to.kind} ${to.namespace}/${to.name}, which no ReferenceGrant in ${to.namespace} allows`,
        `add a ReferenceGrant in ${to.namespace} from ${from.kind} in ${from.namespace} to ${to.kind}`,
      );
      return undefined;
    }
    const found = objects.get(to.kind, to.namespace, to.name);
    if (found === undefined)
      dangling(
        node,
        `refers to ${to.kind} ${to.namespace}/${to.name}, which is in none of the files`,
        "give the file that has it",
      );
    else objects.use(found);
    return found;
  };
}

interface Grant {
  readonly namespace: string;
  allows(from: KubernetesObject, to: Reference): boolean;
}

function readGrant(object: KubernetesObject): Grant {
  const root = rootOf(object);
  reportUnread(field(root, "spec"), ["from", "to"]);
  const from = itemsOf(field(root, "spec", "from")).map((node) => ({
    group: textOf(field(node, "group")) ?? "",
    title: `${requiredText(field(node, "kind"))} ${requiredText(field(node, "namespace"))}`,
  }));
  const to = itemsOf(field(root, "spec", "to")).map((node) => ({
    group: textOf(field(node, "group")) ?? "",
    kind: requiredText(field(node, "kind")),
    name: textOf(field(node, "name")),
  }));
  return {
    namespace: object.namespace,
    allows: (source, target) =>
      from.some(
        ({ group, title }) =>
          group === source.group && title === `${source.kind} ${source.namespace}`,
      ) &&
      to.some(
        ({ group, kind, name }) =>
          group === groupOfKind[target.kind] &&
          kind === target.kind &&
          (name === undefined || name === "" || name === target.name),
      ),
  };
}
