import { defineConfig } from 'vitest/config'

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'hono/jsx' },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/build-once.ts', 'test/support/templates.ts'],
    pool: 'forks',
    fileParallelism: true,
    // Twice the cores of a small machine: many tests wait for a server, a browser or a probe.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
