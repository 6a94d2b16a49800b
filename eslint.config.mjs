import eslint from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

// The two size rules are a tripwire, not a goal: files of about 50 lines and functions of 10 to 15 are what reads well.
const sizes = {
  "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
  "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
};

export default defineConfig(
  globalIgnores(["**/dist/**", "**/gen/**", "**/reports/**", "**/.turbo/**", "**/.examples/**"]),
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["vitest.shared.ts"] }, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error", reportUnusedInlineConfigs: "error" },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      ...sizes,
    },
  },
  { files: ["**/*.test.ts", "**/*.test-d.ts"], rules: { "max-lines": "off", "max-lines-per-function": "off" } },
  {
    files: ["**/*.mjs"],
    languageOptions: {
      globals: { process: "readonly", console: "readonly", URL: "readonly", setTimeout: "readonly", clearTimeout: "readonly", Buffer: "readonly", performance: "readonly", fetch: "readonly", AbortSignal: "readonly", AbortController: "readonly", setImmediate: "readonly", structuredClone: "readonly", TextDecoder: "readonly", TextEncoder: "readonly" },
    },
    rules: sizes,
  },
);
