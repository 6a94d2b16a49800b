import eslint from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

const ruleId = String.raw`\b[BCNS]-(?:[A-Z]+-)?\d+\b`;
const idInText = `/.${ruleId}|${ruleId}./s`;

export default defineConfig(
  globalIgnores(["**/dist/**", "**/gen/**", "**/reports/**", "**/.turbo/**", "**/.examples/**"]),
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["vitest.shared.ts"] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error", reportUnusedInlineConfigs: "error" },
    rules: {
      // Prettier decides where lines break.
      "no-unexpected-multiline": "off",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    // A text that people read has no rule id; the id alone is data, as in `rule: "N-08"`.
    files: ["packages/*/src/**/*.ts"],
    ignores: ["**/*.test.ts", "packages/rule-tests/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...[`Literal[value=${idInText}]`, `TemplateElement[value.raw=/${ruleId}/]`].map(
          (selector) => ({
            selector,
            message: "A text has no rule id; give the id next to it, as `rule` of the context.",
          }),
        ),
      ],
    },
  },
  {
    // These packages run in browsers too. What a platform does best has a file for each: `#platform` of core.
    files: [
      "packages/{uri,core,cache,protocol,transport-delta,transport-sotw}/src/**/*.ts",
      "packages/transport-rest/src/client/**/*.ts",
    ],
    ignores: ["**/*.test.ts", "**/node.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: ["node:*"], message: "This package runs in browsers too." }] },
      ],
      "no-restricted-globals": [
        "error",
        ...["Buffer", "process", "setImmediate", "global"].map((name) => ({
          name,
          message: "This package runs in browsers too; see #platform of core.",
        })),
      ],
    },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        URL: "readonly",
        setTimeout: "readonly",
        clearTimeout: "readonly",
        Buffer: "readonly",
        performance: "readonly",
        fetch: "readonly",
        AbortSignal: "readonly",
        AbortController: "readonly",
        setImmediate: "readonly",
        structuredClone: "readonly",
        TextDecoder: "readonly",
        TextEncoder: "readonly",
      },
    },
  },
);
