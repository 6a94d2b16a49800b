import { messagePaths } from "./gen/message-paths.ts";
import { namingFields, type NamingField } from "./naming-fields.ts";

/** The fields of one kind of message that the walk for references reads; it skips the others. */
export interface MessageNode {
  /** Messages to go into, by field. */
  readonly inner: Map<number, MessageNode>;
  /** The field that names a resource; no message has two. */
  naming?: Naming;
  /** The place of the ConfigSource that counts for the messages inside this one. */
  around?: Pick<Naming, "source" | "sourceRequired">;
  /** True for an Any: its content decides. */
  readonly packed: boolean;
  /** True for a Cluster, which names its assignment in a way of its own. */
  readonly cluster: boolean;
}

/** The type of resource that a naming field names, and its condition. */
export interface Naming {
  readonly field: number;
  readonly typeUrl: string;
  /** The path of field numbers to the ConfigSource, from the message of the field. undefined: the surrounding message gives it. */
  readonly source: readonly number[] | undefined;
  readonly sourceRequired: boolean;
  /** The type of names inside the named resource whose source the surrounding message gives. */
  readonly within: string | undefined;
}

const ANY = "google.protobuf.Any";
const CLUSTER = "envoy.config.cluster.v3.Cluster";

/** Made with the first question: a program that asks for no references pays nothing. */
let nodes: ReadonlyMap<string, MessageNode> | undefined;

/** The node of a message by its full name; undefined where it leads to no reference. */
export function messageNode(fullName: string): MessageNode | undefined {
  return (nodes ??= link()).get(fullName);
}

function link(): ReadonlyMap<string, MessageNode> {
  const made = new Map<string, MessageNode>();
  const nodeOf = (name: string): MessageNode => made.get(name) ?? add(made, name);
  for (const [message, paths] of Object.entries(messagePaths)) {
    for (const [path, target] of Object.entries(paths)) {
      const [field, holder] = end(nodeOf(message), path);
      holder.inner.set(field, nodeOf(target));
    }
  }
  for (const field of namingFields)
    addNaming(
      nodeOf(field.message),
      field,
      field.sourceIn === undefined ? undefined : nodeOf(field.sourceIn),
    );
  return made;
}

function addNaming(
  node: MessageNode,
  { field: path, typeUrl, source, sourceRequired = false, within }: NamingField,
  around: MessageNode | undefined,
): void {
  const [field, holder] = end(node, path);
  const found = source === undefined ? [] : numbers(source);
  holder.naming = {
    field,
    typeUrl,
    source: around === undefined ? found : undefined,
    sourceRequired,
    within,
  };
  if (around !== undefined) around.around = { source: found, sourceRequired };
}

/** The last field of a path, and the node that it belongs to: that of the map's entry where the path leads through a map. */
function end(node: MessageNode, path: string): readonly [number, MessageNode] {
  const [field = 0, ofEntry] = numbers(path);
  if (ofEntry === undefined) return [field, node];
  const entry = node.inner.get(field) ?? emptyNode("");
  node.inner.set(field, entry);
  return [ofEntry, entry];
}

function add(made: Map<string, MessageNode>, name: string): MessageNode {
  const node = emptyNode(name);
  made.set(name, node);
  return node;
}

function emptyNode(name: string): MessageNode {
  return { inner: new Map(), packed: name === ANY, cluster: name === CLUSTER };
}

function numbers(path: string): readonly number[] {
  return path.split(".").map(Number);
}
