import {
  create,
  createFileRegistry,
  fromBinary,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, StringValueSchema } from "@bufbuild/protobuf/wkt";
import type { Reference, ResourceType } from "@xdstp/core";

export const CLUSTERS = "type.googleapis.com/test.Cluster";
export const ENDPOINTS = "type.googleapis.com/test.Endpoints";
export const LISTENERS = "type.googleapis.com/test.Listener";
export const ROUTES = "type.googleapis.com/test.Route";

/** The payload of a resource. */
export interface Body {
  readonly name: string;
  /** `v7`, `v7-bad`, and of what refers to a cluster `v7>c3`. */
  readonly version: string;
}

/** Encodes a payload: a message with one text. */
export const bodyOf = (body: Body): Uint8Array =>
  toBinary(StringValueSchema, create(StringValueSchema, { value: JSON.stringify(body) }));
/** Decodes a payload. */
export const readBody = (value: Uint8Array): Body =>
  JSON.parse(fromBinary(StringValueSchema, value).value) as Body;

/** The messages of the payloads. */
export const orderedRegistry: Registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      {
        name: "test.proto",
        package: "test",
        syntax: "proto3",
        messageType: [CLUSTERS, ENDPOINTS, LISTENERS, ROUTES].map((typeUrl) => ({
          name: typeUrl.slice(typeUrl.lastIndexOf(".") + 1),
          field: [{ name: "body", number: 1, label: 1, type: 9 }],
        })),
      },
    ],
  }),
);
/** The cluster that a version refers to; empty: none. */
export const targetOf = (version: string): string => version.split(">")[1] ?? "";
const references = (payload: Uint8Array): readonly Reference[] => [
  { typeUrl: CLUSTERS, name: targetOf(readBody(payload).version) },
];

const afterClusters = [
  { typeUrl: CLUSTERS, when: "accepted" },
  { typeUrl: ENDPOINTS, when: "accepted" },
] as const;
/** Types that follow each other as those of Envoy do. */
export const orderedTypes: readonly ResourceType[] = [
  {
    typeUrl: CLUSTERS,
    fullStateInSotw: true,
    refersTo: [LISTENERS, ROUTES],
    warms: [{ typeUrl: ENDPOINTS, names: (payload) => [readBody(payload).name] }],
  },
  { typeUrl: ENDPOINTS, follows: [{ typeUrl: CLUSTERS, when: "sent" }], refersTo: [CLUSTERS] },
  { typeUrl: LISTENERS, fullStateInSotw: true, follows: [...afterClusters], references },
  {
    typeUrl: ROUTES,
    fullStateInSotw: true,
    refersTo: [LISTENERS],
    follows: [...afterClusters, { typeUrl: LISTENERS, when: "sent" }],
    references,
  },
];
