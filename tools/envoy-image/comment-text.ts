/** Turns a comment of Envoy's protos, which is reStructuredText with marks for Envoy's own generators, into Markdown. Each paragraph becomes one line. */
export function markdownOf(comment: string): string {
  const isPlanned = comment.includes("[#not-implemented-hide:");
  const blocks = blocksOf(withoutMarks(comment).replace(flatCode, "").split("\n"));
  return [...blocks, ...(isPlanned ? ["Not implemented by Envoy."] : [])].join("\n\n");
}

/** Code that has lost its indentation, and all that follows it: gofmt reads comments on types as Markdown, and writes them again. */
const flatCode = /(?<=^|\n)( *)\.\. [\w-]*code[\w-]*::.*\n\s*\n\1(?! |\t)\S[\s\S]*$/;

/** Leaves out marks such as `[#next-free-field: 7]`, in which there may be other brackets. */
function withoutMarks(comment: string): string {
  let text = comment;
  for (let start = text.indexOf("[#"); start !== -1; start = text.indexOf("[#", start)) {
    let end = start;
    for (let depth = 0; end < text.length; end++) {
      if (text[end] === "[") depth++;
      if (text[end] === "]" && --depth === 0) break;
    }
    text = text.slice(0, start) + text.slice(end + 1);
  }
  return text;
}

const directive = /^\.\. ([\w-]+):: *(.*)$/;
/** A label, a comment or a substitution, of which nothing is shown. */
const hidden = /^\.\.(?: |$)/;
const listItem = /^(?:[-*•]|\d+\.|#\.) +(?=\S)/;

/** Returns the blocks of lines that begin at the same column, each as Markdown. */
function blocksOf(lines: readonly string[]): readonly string[] {
  const blocks: string[] = [];
  let rest = lines;
  let isLiteral = false;
  while (rest.length > 0) {
    const [line = ""] = rest;
    const count = line.trim() === "" ? 1 : blockLength(rest);
    const block = rest.slice(0, count);
    rest = rest.slice(count);
    if (line.trim() === "") continue;
    if (isLiteral && line.startsWith(" ")) blocks.push(fenced("", block));
    else blocks.push(...blockTexts(block));
    isLiteral = block.at(-1)?.trimEnd().endsWith("::") === true;
  }
  return joinedLists(blocks);
}

/** The number of lines of the first block. */
function blockLength(lines: readonly string[]): number {
  const [first = ""] = lines;
  const indent = indentOf(first);
  const hasBody = hidden.test(first) || listItem.test(first);
  const belongs = (line: string, index: number): boolean => {
    if (line.trim() === "")
      return (
        (hasBody || indent > 0) && indentOf(nextText(lines, index)) > (hasBody ? 0 : indent - 1)
      );
    if (indent > 0) return indentOf(line) > 0;
    if (hasBody) return indentOf(line) > 0;
    return indentOf(line) < 2 && !listItem.test(line) && !hidden.test(line);
  };
  const end = lines.findIndex((line, index) => index > 0 && !belongs(line, index));
  return end === -1 ? lines.length : end;
}

function nextText(lines: readonly string[], from: number): string {
  return lines.slice(from).find((line) => line.trim() !== "") ?? "";
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function blockTexts(block: readonly string[]): readonly string[] {
  const [first = "", ...body] = block;
  const [, name, argument = ""] = directive.exec(first) ?? [];
  if (name !== undefined) return directiveTexts(name.toLowerCase(), argument, dedented(body));
  if (hidden.test(first)) return [];
  const [bullet] = listItem.exec(first) ?? [];
  if (bullet !== undefined) {
    const marker = /^\d/.test(bullet) ? bullet.trim() : bullet.startsWith("#") ? "1." : "*";
    const item = blocksOf([first.slice(bullet.length), ...dedented(body)]).join("\n\n");
    return [`${marker} ${item.replace(/\n(?=.)/g, `\n${" ".repeat(marker.length + 1)}`)}`];
  }
  if (indentOf(first) > 0) return blocksOf(dedented(block));
  return [inline(block.map((line) => line.trim()).join(" ")).replace(/::$/, ":")];
}

const admonitions = new Set(["attention", "caution", "note", "tip", "warning"]);

function directiveTexts(
  name: string,
  argument: string,
  body: readonly string[],
): readonly string[] {
  if (admonitions.has(name)) {
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    const [first = "", ...more] = blocksOf([argument, ...body]);
    return listItem.test(first)
      ? [`**${title}:**`, first, ...more]
      : [`**${title}:** ${first}`, ...more];
  }
  // The included text is in another file.
  if (name === "literalinclude") return [];
  const content = body.slice(body.findIndex((line) => !/^:[\w-]+:/.test(line)));
  return [fenced(name.includes("code") ? argument : "", content)];
}

function fenced(language: string, lines: readonly string[]): string {
  const code = dedented(lines).join("\n").replace(/^\n+/, "").trimEnd();
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

function dedented(lines: readonly string[]): readonly string[] {
  const indents = lines.filter((line) => line.trim() !== "").map(indentOf);
  const indent = Math.min(...indents);
  return lines.map((line) => (line.trim() === "" ? "" : line.slice(indent)));
}

/** Items of a list follow each other without an empty line. */
function joinedLists(blocks: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (last !== undefined && listItem.test(last) && listItem.test(block))
      joined[joined.length - 1] = `${last}\n${block}`;
    else joined.push(block);
  }
  return joined;
}

/** Turns roles, links and literals of a line into Markdown. */
function inline(line: string): string {
  return (
    line
      .replace(/:[a-z]+:`([^`]*?)\s*<([^`<>]*)>`/g, (_, text: string, target: string) =>
        withTarget(text, target),
      )
      .replace(/:[a-z]+:`([^`]*)`/g, "`$1`")
      .replace(/`([^`<]+?)\s*<(https?:[^`>]*)>`__?/g, "[$1]($2)")
      // gofmt writes “a“ for ``a`` in comments on types.
      .replace(
        /`{2,}([^`]+)`{2,}|“([^“”]+)“/g,
        (_, code?: string, other = "") => `\`${code ?? other}\``,
      )
      .replace(/ {2,}/g, " ")
      .trim()
  );
}

/** Names the field, message or enum to which a text refers, where the text does not. Other pages of Envoy's documentation are left out. */
function withTarget(text: string, target: string): string {
  const [, kind, path] = /^envoy_v3_api_(field|msg|enum|enum_value)_(.*)$/.exec(target) ?? [];
  if (path === undefined) return text;
  const parts = path.split(".");
  const name = parts.slice(kind === "field" || kind === "enum_value" ? -2 : -1).join(".");
  const last = parts.at(-1) ?? "";
  return text.toLowerCase().includes(last.toLowerCase()) ? text : `${text} (\`${name}\`)`;
}
