import { brotliDecompressSync } from "node:zlib";
import { packedComments } from "./gen/envoy-comments.ts";

let comments: ReadonlyMap<string, string> | undefined;

/**
 * Returns the comments on Envoy's API as Markdown, by full names: those of messages, enums and fields, and of values below the name of their enum.
 *
 * Unpacked at the first call and kept.
 */
export function envoyComments(): ReadonlyMap<string, string> {
  comments ??= new Map(
    Object.entries(
      JSON.parse(
        brotliDecompressSync(Buffer.from(packedComments, "base64")).toString(),
      ) as Readonly<Record<string, string>>,
    ),
  );
  return comments;
}

/** The first paragraph of a comment in Markdown, as plain text. Literals keep their backticks. */
export function summaryOf(markdown: string): string {
  const [first = ""] = markdown.split("\n\n", 1);
  return first.replace(/\[([^\]]+)\]\([^\s)]+\)/g, "$1").replace(/\*\*([^*]+)\*\*/g, "$1");
}
