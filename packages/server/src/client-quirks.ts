import type { Quirk } from "@xdstp/protocol/server";
import { clusterLoadAssignment, routeConfiguration, virtualHost } from "@xdstp/resource-types";

const everyone = "";
const envoy = "envoy";
const grpc = "gRPC";
const grpcCore = "gRPC C-core";
const grpcGo = "gRPC Go";
const grpcNode = "gRPC Node";

/**
 * The differences of single clients from the protocol, and how the server handles each: the default
 * of `createServer`.
 *
 * A row without `effect` needs no special handling, since a rule for all clients covers it. It
 * shows why that rule is needed.
 */
export const clientQuirks: readonly Quirk[] = [
  // Streams and nodes.
  {
    client: everyone,
    rule: "S-STREAM-6",
    difference:
      "C-core opens one ADS stream per channel target, Envoy with streams per type one per cluster and route.",
    reason: "One node has many streams, also of one type; each is served on its own.",
  },
  {
    client: envoy,
    rule: "S-STREAM-13",
    difference: "It answers a stream that the server ends with a reset, whatever the status.",
    reason: "A reset after the end is not a fault of the stream.",
  },
  {
    client: envoy,
    rule: "S-NODE-6",
    difference:
      "Its node is 61 KB, nearly all of it extensions, and comes with every message unless set_node_on_first_message_only is set.",
    reason: "The list is skipped undecoded, and messages of 128 KB and more are taken.",
  },
  {
    client: everyone,
    rule: "S-NODE-3",
    difference: "gRPC Java and Armeria repeat the node in every request.",
    reason: "The same id and cluster are taken again.",
  },
  {
    client: everyone,
    rule: "B-STREAM-1",
    difference: "Armeria opens a SotW stream even where it is configured for delta.",
    reason: "The method selects the variant, not what an operator has configured.",
  },
  // ACK and NACK.
  {
    client: everyone,
    rule: "S-ACK-7",
    difference: "The code of a NACK differs: Envoy INTERNAL, gRPC INVALID_ARGUMENT or UNAVAILABLE.",
    reason:
      "A request is a NACK because error_detail is present; no decision is taken from its code.",
  },
  {
    client: envoy,
    rule: "S-ACK-8",
    difference:
      "It drops the whole response for an error found while decoding, and applies the good part after one found later; the NACK does not say which.",
    reason:
      "Nothing of a rejected response counts as delivered, so good resources come again with the correction.",
  },
  {
    client: envoy,
    rule: "S-ACK-15",
    difference:
      "Its NACK texts run to 4,096 characters with text of the resource in them, and prefix and spacing vary at random.",
    reason: "The text is cut, shown, and never compared.",
  },
  {
    client: envoy,
    rule: "S-ACK-16",
    difference:
      "While its clusters are paused it answers only the newest of several responses; older nonces are never answered.",
    reason: "An answer to the newest nonce settles the older ones.",
  },
  {
    client: grpcNode,
    rule: "S-ACK-19",
    difference:
      "It repeats an old error_detail in later name changes until the next good response.",
    reason: "An error under a nonce that was answered is not a new NACK; the names count.",
  },
  // Subscriptions.
  {
    client: grpcGo,
    rule: "S-SUB-1",
    difference: "Many watches made at once are sent as many requests with ever longer lists.",
    reason: "A newer list supersedes older ones; only the newest is answered.",
  },
  {
    client: envoy,
    rule: "S-SUB-5",
    difference: "With its last cluster gone it asks for endpoints with an empty list.",
    reason: "After any name an empty list ends all subscriptions; it is not a wildcard.",
  },
  {
    client: grpc,
    rule: "S-WILD-6",
    effect: { legacyWildcard: false },
    difference: "gRPC clients ask by name always; an empty list never means everything.",
    reason: "Taken for a wildcard it would send a client with no names everything that exists.",
  },
  {
    client: envoy,
    rule: "S-WILD-7",
    difference:
      "A listener with VHDS starts by an empty list and becomes ready at once by any response with virtual hosts; an empty one costs 15 s.",
    reason: "The first request is answered with all virtual hosts there are.",
  },
  {
    client: grpcNode,
    rule: "S-WRAP-2",
    difference: "It rejects a resource inside a Resource in SotW.",
    reason: "Only clients that announce the feature get wrapped resources.",
  },
  // Missing and removed resources.
  {
    client: envoy,
    rule: "S-MISS-1",
    effect: { missingAs: { [routeConfiguration.typeUrl]: "nothing" } },
    difference:
      "Told that a route configuration does not exist, a new listener never becomes ready, and Envoy starts for ever.",
    reason: "Left alone it starts after 15 s and answers 404 until the routes come.",
  },
  {
    client: envoy,
    rule: "S-MISS-2",
    effect: { missingAs: { [virtualHost.typeUrl]: "empty-resource" } },
    difference: "A request that waits for a virtual host is let go only by an entry in resources.",
    reason:
      "Answered with removed_resources the request would hang; a Resource without body answers it with 404 at once.",
  },
  {
    client: envoy,
    rule: "S-REM-1",
    difference:
      "It files a resource under the name in its body: a removal finds it by those very characters only.",
    reason: "A removal is spelled as the resource was sent.",
  },
  // Order and warming.
  {
    client: envoy,
    rule: "S-ORD-2",
    difference:
      "It holds the ACK of its clusters back until their endpoints and secrets have come, 15 s at most.",
    reason: "Endpoints and secrets follow the sending of clusters and never wait for the ACK.",
  },
  {
    client: envoy,
    rule: "S-WARM-1",
    difference:
      "A cluster that changed warms again and waits for its endpoints, and over delta asks for none.",
    reason: "The endpoints are sent again unasked; the same with a listener and its routes.",
  },
  // Reconnecting.
  {
    client: envoy,
    rule: "S-RECON-4",
    effect: { resendOnReconnect: [clusterLoadAssignment.typeUrl, routeConfiguration.typeUrl] },
    difference:
      "It lists endpoints and routes as held, and yet waits for a fresh response to end warming.",
    reason: "Not sent again, clusters and listeners would warm until a timeout.",
  },
  {
    client: envoy,
    rule: "S-RECON-10",
    effect: { forgetsGlobMembers: true },
    difference:
      "It leaves members of globs out of initial_resource_versions and keeps members that were removed while it was away.",
    reason: "All members are sent, and names that were removed lately are named as removed.",
  },
  // TTL.
  {
    client: envoy,
    rule: "S-TTL-1",
    effect: { ttl: { delta: true, sotw: false } },
    difference:
      "It honours TTLs without announcing them; over SotW the expiry of endpoints or routes crashes it, and a heartbeat of listeners or clusters deletes them all.",
    reason: "TTLs and heartbeats are sent over delta, and none over SotW.",
  },
  {
    client: envoy,
    rule: "B-TTL-10",
    effect: { globHeartbeats: false },
    difference: "A TTL on a member of a glob has no effect, and it rejects a heartbeat for one.",
    reason: "Members of globs get no heartbeats.",
  },
  {
    client: envoy,
    rule: "S-TTL-2",
    difference: "It rejects a heartbeat whose version is not the one that it holds.",
    reason:
      "A heartbeat bears the version sent last, and after a NACK the one accepted last; what is rejected all the same is sent again whole.",
  },
  // Errors.
  {
    client: grpcCore,
    rule: "S-SIZE-4",
    effect: { readsErrors: true },
    difference:
      "It reads resource_errors, behind a flag of its own that it does not announce, and else ignores them.",
    reason:
      "A resource that is too large to be sent is sent as an error, so that calls fail at once and say why.",
  },
  {
    client: "xdstp",
    rule: "B-ERR-6",
    effect: { readsErrors: true },
    difference:
      "@xdstp/client and relays read resource_errors, which has no feature to announce it.",
    reason:
      "They get the known part of a full state at once, and why the rest is not in it; a client that does not read errors gets no full state that lacks what may exist.",
  },
  // Globs.
  {
    client: envoy,
    rule: "S-GLOB-3",
    difference:
      "At its start only the glob itself in removed_resources ends the wait for an empty one; an empty response costs 15 s.",
    reason: "An empty glob is named in removed_resources, as it was requested.",
  },
  {
    client: envoy,
    rule: "S-GLOB-5",
    difference:
      "It ignores that an empty glob is named later, and lets go of members only by their names.",
    reason: "A removed member is named by its own name, also the last one.",
  },
  {
    client: envoy,
    rule: "C-GLOB-10",
    difference:
      "Over SotW it ignores a response without any member of a glob, so the last member stays.",
    reason: "SotW has no word for it; the way out is delta, or a glob that keeps one member.",
  },
];
