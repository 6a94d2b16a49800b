import { describe, expect, it } from "vitest";
import { markdownOf } from "./comment-text.ts";

describe("markdownOf()", () => {
  it.each([
    ["lines of a paragraph", "One\ntwo.\n\nThree.", "One two.\n\nThree."],
    ["literals", "Is ``true`` or ``a b``.", "Is `true` or `a b`."],
    [
      "marks of generators",
      "A.\n[#next-free-field: 7]\n[#comment: see [x] and\n [y].]\nB.",
      "A.\n\nB.",
    ],
    ["what is not implemented", "[#not-implemented-hide:]\nA.", "A.\n\nNot implemented by Envoy."],
    [
      "a reference to a field that the text does not name",
      "See :ref:`this field\n<envoy_v3_api_field_config.cluster.v3.Cluster.name>`.",
      "See this field (`Cluster.name`).",
    ],
    [
      "a reference to a message that the text names",
      "A :ref:`Cluster <envoy_v3_api_msg_config.cluster.v3.Cluster>`.",
      "A Cluster.",
    ],
    ["a reference to a page", "See :ref:`static<arch_static>`.", "See static."],
    ["options", "See :option:`--mode`.", "See `--mode`."],
    ["literals of comments that gofmt has changed", "Is “true“.", "Is `true`."],
    [
      "nothing of code that gofmt has changed",
      "A:\n\n  - b\n\n    .. code-block:: yaml\n\n    c:\n    d: 1\n\n  - e: 2",
      "A:\n\n* b",
    ],
    ["links", "See `the docs <https://a.example/b>`_.", "See [the docs](https://a.example/b)."],
    [
      "notes",
      "A.\n\n.. note::\n\n  One\n  two.\n\n  Three.\n\nB.",
      "A.\n\n**Note:** One two.\n\nThree.\n\nB.",
    ],
    ["notes on one line", ".. warning:: One\n  two.", "**Warning:** One two."],
    [
      "code",
      "As in\n\n.. code-block:: yaml\n  :type-name: a.B\n\n  a:\n    b: 1\n\nB.",
      "As in\n\n```yaml\na:\n  b: 1\n```\n\nB.",
    ],
    ["literal blocks", "As in::\n\n  a:\n    b\n\nB.", "As in:\n\n```\na:\n  b\n```\n\nB."],
    ["lists", "A:\n\n* one\n  two\n* three\n\nB.", "A:\n\n* one two\n* three\n\nB."],
    ["lists without an empty line before", "A:\n- one\n- two", "A:\n\n* one\n* two"],
    ["numbered lists", "#. one\n#. two\n\n1. one\n2. two", "1. one\n1. two\n1. one\n2. two"],
    [
      "lists in lists",
      "* one\n\n  * two\n  * three\n* four",
      "* one\n\n  * two\n  * three\n* four",
    ],
    ["notes with lists", ".. note::\n\n  * one\n  * two", "**Note:**\n\n* one\n* two"],
    ["labels", "A.\n\n.. _label:\n\nB.", "A.\n\nB."],
    ["included files", "A.\n\n.. literalinclude:: /a.yaml\n   :lines: 1-2\n\nB.", "A.\n\nB."],
    ["definitions", "``a``\n  Is one.\n``b``\n  Is two.", "`a`\n\nIs one.\n\n`b`\n\nIs two."],
    ["an empty mark at the end", "[#alpha:", ""],
  ])("writes %s", (_, comment, markdown) => {
    expect(markdownOf(comment)).toBe(markdown);
  });
});
