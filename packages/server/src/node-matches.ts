import { type NodeInfo, type Status, StatusCode } from "@xdstp/core";
import type { NodeMatcher, StringMatcher } from "@xdstp/protos/status";

/** Whether a client is one of those asked for. */
export type NodeTest = (node: NodeInfo | undefined) => boolean;

/**
 * Reads the matchers of a status request: one of them has to hold, and none means every client (B-CSDS-5).
 * @returns INVALID_ARGUMENT for what cannot be tested: the metadata of nodes, which is not kept, regular expressions, which a stranger must not choose, and matchers of one's own
 */
export function nodeTestOf(matchers: readonly NodeMatcher[]): NodeTest | Status {
  const tests = matchers.map(testOf);
  const problem = tests.find((test) => typeof test === "string");
  if (problem !== undefined)
    return { code: StatusCode.INVALID_ARGUMENT, message: `node_matchers: ${problem}` };
  if (tests.length === 0) return () => true;
  return (node) =>
    node !== undefined && tests.some((test) => typeof test === "function" && test(node.id));
}

type TextTest = (text: string) => boolean;

function testOf({ nodeId, nodeMetadatas }: NodeMatcher): TextTest | string {
  if (nodeMetadatas.length > 0)
    return "the metadata of nodes is not kept, so node_metadatas cannot be tested; match by node_id";
  return nodeId === undefined ? () => true : textTestOf(nodeId);
}

function textTestOf({ matchPattern, ignoreCase }: StringMatcher): TextTest | string {
  if (typeof matchPattern.value !== "string")
    return "give exact, prefix, suffix or contains for node_id; nothing else is tested";
  const compare = compares[matchPattern.case];
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const wanted = fold(matchPattern.value);
  return (text) => compare(fold(text), wanted);
}

const compares = {
  exact: (text: string, wanted: string) => text === wanted,
  prefix: (text: string, wanted: string) => text.startsWith(wanted),
  suffix: (text: string, wanted: string) => text.endsWith(wanted),
  contains: (text: string, wanted: string) => text.includes(wanted),
} as const;
