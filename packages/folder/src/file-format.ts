/** How a file is read. */
export type FileFormat = "yaml" | "json" | "text" | "binary";

const formats: ReadonlyMap<string, FileFormat> = new Map([
  [".yaml", "yaml"],
  [".yml", "yaml"],
  [".json", "json"],
  [".txtpb", "text"],
  [".pb_text", "text"],
  [".pb", "binary"],
]);

/** The extensions that are read, for messages. */
export const extensions: string = [...formats.keys()].join(" ");

/** Splits a file name at its extension; the case of the extension does not matter. undefined: such a file is not read. */
export function splitFileName(
  name: string,
): { readonly stem: string; readonly format: FileFormat } | undefined {
  const dot = name.lastIndexOf(".");
  const format = dot <= 0 ? undefined : formats.get(name.slice(dot).toLowerCase());
  return format === undefined ? undefined : { stem: name.slice(0, dot), format };
}
