import type { Gathered as Response } from "@xdstp/protocol/server";

/** What is pending on a type, taken as of now. */
export interface Gathered extends Response {
  /** The author's label, where one topic contributed and has one: it replaces the content version. */
  readonly label: string | undefined;
  /** Of all that the client has with it: the content version is made of it (S-VER-3). */
  readonly hash: number;
}
