import { defineConfig, mergeConfig } from "vitest/config";
import shared from "../../vitest.shared.ts";

/** The helpers only; the suites with real programs are `test:real`. */
export default mergeConfig(shared, defineConfig({ test: { include: ["src/**/*.test.ts"] } }));
