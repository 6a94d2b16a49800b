import type { DescEnum, DescField, DescFile, DescMessage } from "@bufbuild/protobuf";

/** The comments of a proto source on what it declares. */
export interface DocComments {
  /** The comment of a message, an enum or a field, in one text. undefined: there is none, or the descriptors came without comments. */
  commentOf(desc: DescMessage | DescEnum | DescField): string | undefined;
}

/** Numbers of fields in `google/protobuf/descriptor.proto`, of which the paths of comments are made. */
const steps = {
  messageOfFile: 4,
  enumOfFile: 5,
  field: 2,
  nestedMessage: 3,
  nestedEnum: 4,
} as const;

/** Reads the comments that descriptors have, each file when it is first needed. */
export function createDocComments(): DocComments {
  const files = new Map<DescFile, ReadonlyMap<string, string>>();
  return {
    commentOf(desc) {
      const file = desc.kind === "field" ? desc.parent.file : desc.file;
      const comments = files.get(file) ?? commentsIn(file);
      files.set(file, comments);
      return comments.size === 0 ? undefined : comments.get(pathOf(desc).join("."));
    },
  };
}

function commentsIn({ proto }: DescFile): ReadonlyMap<string, string> {
  return new Map(
    (proto.sourceCodeInfo?.location ?? []).flatMap(
      ({ path, leadingComments, trailingComments }) => {
        const text = textOf(`${leadingComments}\n${trailingComments}`);
        return text === "" ? [] : [[path.join("."), text]];
      },
    ),
  );
}

/** Without what linters and generators of documents read. */
function textOf(comment: string): string {
  return comment
    .replace(/^ /gm, "")
    .replace(/^(?:buf:lint:|@exclude|\[#).*$/gm, "")
    .trim();
}

function pathOf(desc: DescMessage | DescEnum | DescField): readonly number[] {
  if (desc.kind === "field")
    return [...pathOf(desc.parent), steps.field, indexIn(desc.parent.fields, desc)];
  const { parent, file } = desc;
  if (desc.kind === "enum")
    return parent === undefined
      ? [steps.enumOfFile, indexIn(file.enums, desc)]
      : [...pathOf(parent), steps.nestedEnum, indexIn(parent.nestedEnums, desc)];
  return parent === undefined
    ? [steps.messageOfFile, indexIn(file.messages, desc)]
    : [...pathOf(parent), steps.nestedMessage, nestedIndex(parent, desc)];
}

function indexIn<T>(list: readonly T[], one: T): number {
  return list.indexOf(one);
}

/** The index among all nested messages of the source, of which the entries of maps are not listed. */
function nestedIndex(parent: DescMessage, desc: DescMessage): number {
  return parent.proto.nestedType.findIndex(({ name }) => name === desc.name);
}
