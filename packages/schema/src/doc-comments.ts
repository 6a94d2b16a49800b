import type { DescEnum, DescEnumValue, DescField, DescFile, DescMessage } from "@bufbuild/protobuf";
import { envoyComments, summaryOf } from "./envoy-comments.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A declaration that can have a comment. */
type Commented = DescMessage | DescEnum | DescField | DescEnumValue;

interface Comment {
  /** Empty: there is none. */
  readonly plain: string;
  /** undefined: the comment is not in Markdown. */
  readonly markdown: string | undefined;
}

/** The comments of a proto source on what it declares, as keywords of a schema. */
export interface DocComments {
  /** `description`, and `markdownDescription` where the comment is Markdown that says more. Empty: there is no comment. */
  keywordsOf(desc: Commented): JsonSchema;
  /** The same on the values of an enum: `enumDescriptions` and `markdownEnumDescriptions`. Empty: no value has a comment. */
  valueKeywordsOf(desc: DescEnum): JsonSchema;
}

/** Numbers of fields in `google/protobuf/descriptor.proto`, of which the paths of comments are made. */
const steps = {
  messageOfFile: 4,
  enumOfFile: 5,
  field: 2,
  nestedMessage: 3,
  nestedEnum: 4,
  enumValue: 2,
} as const;

/** Makes {@link DocComments} of the comments that descriptors have, and of those on Envoy's API where they have none; or without comments. */
export function docComments(isCommented: boolean): DocComments {
  return isCommented
    ? createDocComments()
    : { keywordsOf: () => ({}), valueKeywordsOf: () => ({}) };
}

/** Reads the comments of each file when they are first needed. */
function createDocComments(): DocComments {
  const files = new Map<DescFile, ReadonlyMap<string, string>>();
  return {
    keywordsOf(desc) {
      const { plain, markdown } = commentOf(desc);
      if (plain === "") return {};
      return {
        description: plain,
        ...(isFormatted(markdown, plain) && { markdownDescription: markdown }),
      };
    },
    valueKeywordsOf({ values }) {
      const comments = values.map(commentOf);
      if (comments.every(({ plain }) => plain === "")) return {};
      const isMarkdown = comments.some(({ plain, markdown }) => isFormatted(markdown, plain));
      return {
        enumDescriptions: comments.map(({ plain }) => plain),
        ...(isMarkdown && {
          markdownEnumDescriptions: comments.map(({ plain, markdown }) => markdown ?? plain),
        }),
      };
    },
  };

  function commentOf(desc: Commented): Comment {
    const file = fileOf(desc);
    const comments = files.get(file) ?? commentsIn(file);
    files.set(file, comments);
    const own = comments.size === 0 ? undefined : comments.get(pathOf(desc).join("."));
    if (own !== undefined) return { plain: own, markdown: undefined };
    const markdown = envoyComments().get(fullNameOf(desc)) ?? "";
    return { plain: summaryOf(markdown), markdown };
  }
}

/** Editors show the backticks of a description that is not in Markdown. */
function isFormatted(markdown: string | undefined, plain: string): markdown is string {
  return markdown !== undefined && (markdown !== plain || markdown.includes("`"));
}

function fileOf(desc: Commented): DescFile {
  return desc.kind === "message" || desc.kind === "enum" ? desc.file : desc.parent.file;
}

function fullNameOf(desc: Commented): string {
  if (desc.kind === "message" || desc.kind === "enum") return desc.typeName;
  return `${desc.parent.typeName}.${desc.name}`;
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

function pathOf(desc: Commented): readonly number[] {
  if (desc.kind === "enum_value")
    return [...pathOf(desc.parent), steps.enumValue, indexIn(desc.parent.values, desc)];
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
