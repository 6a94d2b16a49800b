import { quote } from "../folder-problem.ts";
import { type EnvoyCheck, envoyCheck, type EnvoyFinding, finding } from "./envoy-check.ts";
import { canonicalNetwork, type Network } from "./network-addresses.ts";

interface ChainMatch {
  readonly destinationPort?: number;
  readonly prefixRanges: readonly Network[];
  readonly serverNames: readonly string[];
  readonly transportProtocol: string;
  readonly applicationProtocols: readonly string[];
  readonly directSourcePrefixRanges: readonly Network[];
  readonly sourceType: number;
  readonly sourcePrefixRanges: readonly Network[];
  readonly sourcePorts: readonly number[];
  readonly addressSuffix: string;
  readonly suffixLen?: number;
}

/** Checks of the choice of a filter chain. */
export const chainMatchChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-listener", "envoy.config.listener.v3.Listener", overlaps),
  envoyCheck("bad-listener", "envoy.config.listener.v3.FilterChainMatch", serverNames),
  envoyCheck("bad-listener", "envoy.config.listener.v3.FilterChainMatch", unimplemented),
];

/** Combinations of values of a listener that are compared; more are left alone. */
const maxCombinations = 500_000;

/** Two chains that take one connection, neither of which matches it better: Envoy could not choose. */
function* overlaps({
  filterChains,
  filterChainMatcher,
}: {
  filterChains: readonly { readonly filterChainMatch?: ChainMatch }[];
  filterChainMatcher?: object;
}): Iterable<EnvoyFinding> {
  if (filterChainMatcher !== undefined) return;
  const owners = new Map<string, number>();
  let count = 0;
  for (const [index, { filterChainMatch: match }] of filterChains.entries()) {
    const values = valuesOf(match);
    count += values.reduce((product, [, list]) => product * list.length, 1);
    if (count > maxCombinations) return;
    for (const combination of combinationsOf(values.map(([, list]) => list))) {
      const key = JSON.stringify(combination);
      const owner = owners.get(key);
      owners.set(key, owner ?? index);
      if (owner === undefined) continue;
      yield overlap(index, owner, values, combination);
      break;
    }
  }
}

function overlap(
  index: number,
  owner: number,
  values: Values,
  combination: readonly string[],
): EnvoyFinding {
  const at = ["filter_chains", index];
  const set = values.flatMap(([field], dimension) => {
    const value = combination[dimension] ?? "";
    return value === "" ? [] : [`${field} ${quote(value)}`];
  });
  if (owner === index)
    return finding([...at, "filter_chain_match"], `lists ${set.join(", ")} more than once`);
  if (set.length === 0)
    return finding(
      at,
      `has the same filter_chain_match as filter_chains[${owner}]`,
      "let each filter chain match other connections",
    );
  return finding(
    at,
    `matches the same connections as filter_chains[${owner}]: ${set.join(", ")}`,
    "let each filter chain match other connections",
  );
}

/** The values of each field, in the order in which Envoy compares them; an empty text where none is set. */
type Values = readonly (readonly [field: string, list: readonly string[]])[];

const sourceTypes = ["", "SAME_IP_OR_LOOPBACK", "EXTERNAL"];

function valuesOf(match: ChainMatch | undefined): Values {
  const orNone = (list: readonly string[] = []) => (list.length === 0 ? [""] : list);
  return [
    ["destination_port", [String(match?.destinationPort ?? "")]],
    ["prefix_ranges", orNone(match?.prefixRanges.map(canonicalNetwork))],
    ["server_names", orNone(match?.serverNames.map((name) => name.toLowerCase()))],
    ["transport_protocol", [match?.transportProtocol ?? ""]],
    ["application_protocols", orNone(match?.applicationProtocols)],
    ["direct_source_prefix_ranges", orNone(match?.directSourcePrefixRanges.map(canonicalNetwork))],
    ["source_type", [sourceTypes[match?.sourceType ?? 0] ?? ""]],
    ["source_prefix_ranges", orNone(match?.sourcePrefixRanges.map(canonicalNetwork))],
    ["source_ports", orNone(match?.sourcePorts.map(String))],
  ];
}

/** One value of each list, in every combination. */
function* combinationsOf(
  lists: readonly (readonly string[])[],
  from = 0,
): Generator<readonly string[]> {
  const list = lists[from];
  if (list === undefined) {
    yield [];
    return;
  }
  for (const value of list)
    for (const rest of combinationsOf(lists, from + 1)) yield [value, ...rest];
}

function* serverNames({ serverNames: names }: ChainMatch): Iterable<EnvoyFinding> {
  for (const [index, name] of names.entries())
    if (name.includes("*") && !/^\*\.[^*]*$/.test(name))
      yield finding(
        ["server_names", index],
        name === "*"
          ? '"*" is not a name of a server'
          : `${quote(name)} has a "*" that is not its whole first label`,
        name === "*"
          ? "leave server_names out to match all names"
          : 'write "*.example.com" or "example.com"',
      );
}

function* unimplemented({ addressSuffix, suffixLen }: ChainMatch): Iterable<EnvoyFinding> {
  if (addressSuffix !== "") yield finding(["address_suffix"], "is not implemented in Envoy");
  if (suffixLen !== undefined) yield finding(["suffix_len"], "is not implemented in Envoy");
}
