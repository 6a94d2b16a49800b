import type { JsonObject } from "@bufbuild/protobuf";
import type { JsonPath } from "./fault.ts";
import type { WrapperFacts } from "./wrapper-facts.ts";

/** A resource as it is in a file, before its name and payload are checked. */
export interface Candidate {
  /** The payload: as JSON, which is encoded here, or as bytes, which are kept. */
  readonly content: { readonly json: JsonObject } | { readonly bytes: Uint8Array };
  /** What its wrapper says, where it has one. */
  readonly facts?: WrapperFacts;
  /** True: it is the one resource of its file, named by the path where nothing else names it. False: its wrapper or its payload has to. */
  readonly alone: boolean;
  /** Where the payload stands. */
  readonly document: number;
  readonly path: JsonPath;
}
