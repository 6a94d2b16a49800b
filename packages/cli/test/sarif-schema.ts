/** Returns a schema of an object with these properties and no others. */
function object(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): object {
  return { type: "object", properties, required, additionalProperties: false };
}

const text = { type: "string" };
const level = { enum: ["none", "note", "warning", "error"] };
const count = { type: "integer", minimum: 1 };
const message = object({ text }, ["text"]);
const bag = { type: "object" };

/**
 * The part of the JSON Schema of SARIF 2.1.0 (OASIS, section 3 of the specification) that a log of xdstp uses, with the same types, limits and required properties.
 * Properties that are not used are left out, so that a new property has to be added here too.
 */
export const sarifSchema = object(
  {
    $schema: { type: "string", format: "uri" },
    version: { enum: ["2.1.0"] },
    runs: {
      type: "array",
      items: object(
        {
          tool: object(
            {
              driver: object(
                {
                  name: text,
                  semanticVersion: text,
                  informationUri: { type: "string", format: "uri" },
                  rules: {
                    type: "array",
                    uniqueItems: true,
                    items: object(
                      {
                        id: text,
                        shortDescription: message,
                        helpUri: { type: "string", format: "uri" },
                        defaultConfiguration: object({ level }),
                      },
                      ["id"],
                    ),
                  },
                },
                ["name"],
              ),
            },
            ["driver"],
          ),
          columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
          results: {
            type: "array",
            items: object(
              {
                ruleId: text,
                ruleIndex: { type: "integer", minimum: -1 },
                level,
                message,
                locations: {
                  type: "array",
                  items: object({
                    physicalLocation: object({
                      artifactLocation: object({
                        uri: { type: "string", format: "uri-reference" },
                      }),
                      region: object({ startLine: count, startColumn: count }),
                    }),
                  }),
                },
                properties: bag,
              },
              ["message"],
            ),
          },
        },
        ["tool"],
      ),
    },
  },
  ["version", "runs"],
);
