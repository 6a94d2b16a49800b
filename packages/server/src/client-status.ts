import { create, type Registry } from "@bufbuild/protobuf";
import { type AnyBytes, type Status, StatusCode, type NodeInfo, XdsError } from "@xdstp/core";
import type { RejectedVersion, ServerStream } from "@xdstp/protocol/server";
import type { CallPeer } from "@xdstp/grpc/server";
import {
  type ClientConfig,
  type ClientStatusRequest,
  type ClientStatusResponse,
  ClientStatusResponseSchema,
  type NodeMatcher,
  type StringMatcher,
} from "@xdstp/protos/status";
import {
  clientConfig,
  rowsByName,
  rowsByType,
  type RowsOf,
  REJECTIONS,
  rejectionConfig,
} from "./client-config.ts";
import { BY_TYPE, type ShowPayload } from "./generic-configs.ts";
import type { FormerStates } from "./held-state.ts";
import { EXPLAIN, explainConfig, questionIn } from "./explain/explain-config.ts";
import type { Explain } from "./explain/create-explain.ts";
import type { AnswerLine } from "./answer-line.ts";
import {
  requestedNames,
  RESOURCES,
  servedConfigs,
  type ServedResource,
} from "./served-resources.ts";
import { rowsBySubscription, SUBSCRIPTIONS } from "./subscription-rows.ts";
import { type Health, SERVER_FACTS, serverFactsConfig } from "./server-facts.ts";
import type { StatusView } from "./access/create-access.ts";
import { principalOf } from "./caller.ts";
import { BYTES_PER_TURN, nextLoopTurn } from "./answer-fetch.ts";

/** Answers one status request. */
export type AnswerStatus = (
  request: ClientStatusRequest,
  caller: StatusCaller,
) => Promise<ClientStatusResponse | Status>;

/** The caller of client status. */
export interface StatusCaller {
  /** Absent: the program itself. */
  readonly peer: CallPeer | undefined;
  readonly signal: AbortSignal;
  /** The part that the caller may see. Absent: everything. */
  readonly view: StatusView | undefined;
}

/** Options of {@link createClientStatus}. */
export interface ClientStatusOptions {
  readonly streams: () => Iterable<ServerStream>;
  /** Returns the source that a stream is served from. */
  readonly sourceOf: (stream: ServerStream) => FormerStates;
  /** Returns the rejections of clients. Absent: not counted. */
  readonly rejections: (() => readonly RejectedVersion[]) | undefined;
  /** Why a client has what it has. */
  readonly explain: Explain;
  /** Returns the health of what is served. Absent: unknown. */
  readonly health: (() => readonly Health[]) | undefined;
  /** All resources that the server has; absent: they are not listed. */
  readonly resources: (() => Iterable<ServedResource>) | undefined;
  /** Returns true if a policy decides what the client of a stream may see. */
  readonly isFiltered: (stream: ServerStream) => boolean;
  /**
   * The types that can be searched for secrets. Default: Envoy's API, loaded with the first request
   * for contents.
   */
  readonly registry: Registry | undefined;
  /** The maximum number of bytes of one response. */
  readonly mostBytes: number;
  /** The queue in which a request waits until its response may be created. */
  readonly line: AnswerLine;
}

/** The maximum number of rows that are created before other work gets a turn. */
const rowsPerTurn = 1_000;

class TooLarge extends Error {}

/**
 * Creates client status: what each client was sent, accepted and rejected (B-CSDS-1). Secrets are
 * hidden (B-CSDS-7).
 */
export function createClientStatus(options: ClientStatusOptions): AnswerStatus {
  return async (request, caller) =>
    options.line.run(principalOf(caller.peer), caller.signal, async () =>
      answerOf(options, request, caller),
    );
}

async function answerOf(
  options: ClientStatusOptions,
  request: ClientStatusRequest,
  { signal, view }: StatusCaller,
): Promise<ClientStatusResponse | Status> {
  const { streams, mostBytes, rejections, health, explain, resources } = options;
  const matches = nodeTestOf(request.nodeMatchers);
  if (typeof matches !== "function") return matches;
  const allows: StatusView["allows"] = (typeUrl, name) => view?.allows(typeUrl, name) ?? true;
  const budget = createBudget(mostBytes);
  try {
    if (asks(request, EXPLAIN)) {
      const explanation = await explain(questionIn(request), view);
      return create(ClientStatusResponseSchema, {
        config: [explainConfig(explanation, budget.spend)],
      });
    }
    const show = await showerFor(request, options);
    const rowsOf = seenRows(rowsFor(request, options, { show, allows }), view);
    const config: ClientConfig[] = [];
    const all = [...streams()];
    const shown = view === undefined ? all : all.filter((stream) => view.shows(stream));
    for (const stream of shown.filter(({ info }) => matches(info.node))) {
      config.push(clientConfig(stream, rowsOf, budget.spend));
      if (budget.isTurnOver()) await nextLoopTurn();
      if (signal.aborted) return cancelled;
    }
    if (view?.isWhole !== false && rejections !== undefined && asks(request, REJECTIONS))
      config.push(rejectionConfig(rejections(), budget.spend));
    // Node matchers do not apply to this number: otherwise a caller could use them to find out node
    // ids of hidden clients.
    if (asks(request, SERVER_FACTS))
      config.push(
        serverFactsConfig(
          {
            hiddenStreams: all.length - shown.length,
            health: view?.isWhole === false ? [] : (health?.() ?? []),
          },
          budget.spend,
        ),
      );
    if (view?.isWhole !== false && resources !== undefined && asks(request, RESOURCES)) {
      const isRequested = requestedNames(request.node?.metadata);
      const rows = servedConfigs(config, {
        resources: resources(),
        show,
        isShown: (typeUrl, name) => isRequested(typeUrl, name) && allows(typeUrl, name),
      });
      for (const row of rows) {
        budget.spend(row);
        if (budget.isTurnOver()) await nextLoopTurn();
        if (signal.aborted) return cancelled;
      }
    }
    return create(ClientStatusResponseSchema, { config });
  } catch (error) {
    if (error instanceof TooLarge) return tooLarge(mostBytes);
    if (error instanceof XdsError) return { code: StatusCode[error.code], message: error.text };
    throw error;
  }
}

function asks({ node }: ClientStatusRequest, feature: string): boolean {
  return node?.clientFeatures.includes(feature) === true;
}

function rowsFor(
  request: ClientStatusRequest,
  { sourceOf, isFiltered }: ClientStatusOptions,
  { show, allows }: { readonly show: ShowPayload; readonly allows: StatusView["allows"] },
): RowsOf {
  if (!asks(request, BY_TYPE)) return rowsByName(show, sourceOf);
  return asks(request, SUBSCRIPTIONS) ? rowsBySubscription({ isFiltered, allows }) : rowsByType;
}

/** Contents are shown where the request does not exclude them, and something of the answer has any. */
async function showerFor(
  request: ClientStatusRequest,
  { registry }: ClientStatusOptions,
): Promise<ShowPayload> {
  const hasContents = !asks(request, BY_TYPE) || asks(request, RESOURCES);
  return request.excludeResourceContents || !hasContents ? () => undefined : shower(registry);
}

function seenRows(rowsOf: RowsOf, view: StatusView | undefined): RowsOf {
  return view === undefined
    ? rowsOf
    : (stream) => [...rowsOf(stream)].filter(({ typeUrl, name }) => view.allows(typeUrl, name));
}

const cancelled: Status = { code: StatusCode.CANCELLED, message: "the call was cancelled" };

function tooLarge(most: number): Status {
  return {
    code: StatusCode.RESOURCE_EXHAUSTED,
    message: `the status is larger than ${most} bytes: set exclude_resource_contents, or ask for fewer clients by node_matchers`,
  };
}

const shownPayloads = new WeakMap<Registry, WeakMap<AnyBytes, AnyBytes>>();

/**
 * Returns a function that hides the secrets of a payload. Each payload is searched once for all
 * requests.
 */
async function shower(given: Registry | undefined): Promise<ShowPayload> {
  // Loaded only when needed: the whole API of Envoy takes time and memory that streams do not need.
  const { envoyRegistry, withoutSecrets } = await import("@xdstp/protos/envoy");
  const registry = given ?? envoyRegistry();
  const known = shownPayloads.get(registry) ?? new WeakMap<AnyBytes, AnyBytes>();
  shownPayloads.set(registry, known);
  return (payload) => {
    let shown = known.get(payload);
    if (shown === undefined) known.set(payload, (shown = withoutSecrets(payload, registry)));
    return shown;
  };
}

interface Budget {
  readonly spend: (row: ClientConfig["genericXdsConfigs"][number]) => void;
  readonly isTurnOver: () => boolean;
}

/**
 * Counts bytes and rows. The count is approximate, but limits the memory that one request can use.
 */
function createBudget(mostBytes: number): Budget {
  let bytes = 0;
  let rows = 0;
  let turnBegan = 0;
  return {
    spend({ typeUrl, name, xdsConfig, errorState }) {
      rows += 1;
      bytes +=
        64 +
        typeUrl.length +
        name.length +
        (xdsConfig?.value.length ?? 0) +
        (errorState?.details.length ?? 0) +
        (errorState?.failedConfiguration?.value.length ?? 0);
      if (bytes > mostBytes) throw new TooLarge();
    },
    isTurnOver() {
      const isOver = rows >= rowsPerTurn || bytes - turnBegan >= BYTES_PER_TURN;
      if (isOver) [rows, turnBegan] = [0, bytes];
      return isOver;
    },
  };
}

/** Returns true if a client matches the request. */
type NodeTest = (node: NodeInfo | undefined) => boolean;

/**
 * Reads the matchers of a status request. A client matches if one of them does; without matchers
 * all clients match (B-CSDS-5).
 * @returns INVALID_ARGUMENT for matchers that cannot be tested: node metadata, which are not
 * stored; regular expressions, which an untrusted caller must not choose; and custom matchers
 */
function nodeTestOf(matchers: readonly NodeMatcher[]): NodeTest | Status {
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
